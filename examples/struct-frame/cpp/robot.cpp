// A robot and an operator, each a thread of its own, over TCP on the loopback.
#include "robot.structframe.hpp"
#include "structframe/posix.hpp"

#include <iostream>
#include <string>
#include <thread>

namespace sf = structframe;
namespace robot = structframe::robot;

namespace {

void run_robot(sf::posix::Link link) {
    sf::Client<> client(link, sf::standard, robot::lookup);
    robot::Telemetry state;
    client.subscribe<robot::Command>([&](const robot::Command& command) {
        robot::Acknowledge answer;
        answer.sequence = command.sequence;
        if (command.order.as_go_to() != nullptr) {
            state.mode = robot::Mode::Automatic;
            answer.accepted = answer.note.assign("on my way");
        } else if (const auto* halt = command.order.as_halt()) {
            state.mode = robot::Mode::Idle;
            answer.accepted = answer.note.assign("stopped: " + std::string(halt->reason.view()));
        }
        static_cast<void>(client.send(answer));
    });
    auto sent = link.now_ms();
    // The operator hangs up when it has seen enough.
    while (client.poll(20) != sf::Status::Closed) {
        if (link.now_ms() - sent >= 100) {
            sent += 100;
            state.time_us += 100000;
            state.position.x += state.mode == robot::Mode::Automatic ? 0.3f : 0.0f;
            state.ranges_mm = {1200, 950};
            static_cast<void>(client.send(state));
        }
    }
}

bool order(sf::Client<>& client, const char* what, const robot::Command& command) {
    robot::Acknowledge answer;
    const auto mine = [&](const robot::Acknowledge& one) { return one.sequence == command.sequence; };
    const auto status = client.request(command, answer, 1000, mine);
    if (status != sf::Status::Ok) {
        std::cout << what << ": " << sf::name(status) << "\n";
        return false;
    }
    std::cout << what << ": " << (answer.accepted ? "accepted" : "refused") << ", \"" << answer.note.view() << "\"\n";
    return true;
}

bool operate(sf::posix::Link& link) {
    sf::Client<> client(link, sf::standard, robot::lookup);
    client.subscribe<robot::Telemetry>([](const robot::Telemetry& telemetry) {
        std::cout << "telemetry: " << robot::to_string(telemetry.mode) << " at x = " << telemetry.position.x << " m, "
                  << telemetry.battery_volts << " V, " << telemetry.ranges_mm.size() << " ranges\n";
    });
    robot::Command command;
    command.sequence = 1;
    command.order.set_go_to().target = {3.0f, 4.0f, 0.0f};
    if (!order(client, "go to (3, 4, 0)", command)) {
        return false;
    }
    for (const auto begin = link.now_ms(); link.now_ms() - begin < 400;) {
        client.poll(50);
    }
    command.sequence = 2;
    command.order.set_halt().reason = "tea time";
    return order(client, "halt", command);
}

}  // namespace

int main() {
    sf::posix::Listener listener(0);
    auto link = sf::posix::connect_tcp("127.0.0.1", listener.port());
    if (!listener || !link) {
        std::cerr << listener.error() << link.error() << "\n";
        return 1;
    }
    std::thread other(run_robot, listener.accept(1000));
    const bool done = operate(link);
    link.close();
    other.join();
    return done ? 0 : 1;
}
