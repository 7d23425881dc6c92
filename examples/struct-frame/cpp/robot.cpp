// A robot and an operator, each a thread of its own, over TCP on the loopback.
#include "robot.structframe.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

namespace sf = structframe;
namespace robot = structframe::robot;

namespace {

class Socket : public sf::Transport {
public:
    explicit Socket(int file) : file_(file) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() override { close(file_); }

    bool send(const std::uint8_t* data, std::size_t length) override {
        while (length > 0) {
            const auto sent = ::send(file_, data, length, MSG_NOSIGNAL);
            if (sent <= 0) {
                return false;
            }
            data += sent;
            length -= static_cast<std::size_t>(sent);
        }
        return true;
    }

    std::ptrdiff_t receive(std::uint8_t* data, std::size_t capacity, std::uint32_t timeout_ms) override {
        pollfd wait{file_, POLLIN, 0};
        if (poll(&wait, 1, static_cast<int>(timeout_ms)) <= 0) {
            return 0;
        }
        const auto received = recv(file_, data, capacity, 0);
        return received > 0 ? received : -1;
    }

    std::uint32_t now_ms() override {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    }

private:
    int file_;
};

void run_robot(int file) {
    Socket socket(file);
    sf::Client<> client(socket, sf::standard, robot::lookup);
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
    auto sent = socket.now_ms();
    // The operator hangs up when it has seen enough.
    while (client.poll(20) != sf::Status::Closed) {
        if (socket.now_ms() - sent >= 100) {
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

bool operate(int file) {
    Socket socket(file);
    sf::Client<> client(socket, sf::standard, robot::lookup);
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
    for (const auto begin = socket.now_ms(); socket.now_ms() - begin < 400;) {
        client.poll(50);
    }
    command.sequence = 2;
    command.order.set_halt().reason = "tea time";
    return order(client, "halt", command);
}

}  // namespace

int main() {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* place = reinterpret_cast<sockaddr*>(&address);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, place, length) != 0 || listen(listener, 1) != 0 || getsockname(listener, place, &length) != 0) {
        std::perror("listen");
        return 1;
    }
    const int file = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(file, place, length) != 0) {
        std::perror("connect");
        return 1;
    }
    std::thread other(run_robot, accept(listener, nullptr, nullptr));
    const bool done = operate(file);
    other.join();
    close(listener);
    return done ? 0 : 1;
}
