// One end of a link: `peer robot|operator tcp|udp|serial [PORT or PATH]`. What it says is checked by `links.rs`.
#include "robot.structframe.hpp"
#include "structframe/posix.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

namespace sf = structframe;
namespace robot = structframe::robot;

namespace {

[[noreturn]] void give_up(const std::string& why) {
    std::cerr << why << "\n";
    std::exit(1);
}

int serve(const std::string& kind, const std::string& place) {
    sf::posix::Listener listener(0);
    sf::posix::Link link = kind == "udp" ? sf::posix::listen_udp(0) : sf::posix::Link("waits");
    if (kind == "serial") {
        link = sf::posix::open_serial(place);
        std::cout << "ready" << std::endl;
    } else {
        std::cout << "ready " << (kind == "udp" ? link.port() : listener.port()) << std::endl;
    }
    if (kind == "tcp") {
        link = listener.accept(10000);
    }
    if (!link) {
        give_up(link.error());
    }
    sf::Client<> client(link, sf::network, robot::lookup);
    client.header.system = 1;
    bool ended = false;
    client.subscribe<robot::Command>([&](const robot::Command& command) {
        robot::Acknowledge answer;
        answer.sequence = command.sequence;
        std::uint8_t log[250];
        for (std::size_t i = 0; i < sizeof log; i++) {
            log[i] = static_cast<std::uint8_t>(i);
        }
        if (!answer.log.assign(log, sizeof log)) {
            give_up("the log does not fit");
        }
        if (const auto* go = command.order.as_go_to()) {
            answer.accepted = go->target.x == 1.5f && go->speed == 0.75f && answer.note.assign("cpp: go");
        } else if (const auto* halt = command.order.as_halt()) {
            ended = halt->reason.view() == "hang up";
            answer.accepted = answer.note.assign("cpp: " + std::string(halt->reason.view()));
        }
        if (!ended && client.send(answer) != sf::Status::Ok) {
            give_up(link.error());
        }
    });
    robot::Telemetry telemetry;
    for (std::size_t i = 0; i < 32; i++) {
        static_cast<void>(telemetry.ranges_mm.push_back(7));
    }
    for (auto sent = link.now_ms(); !ended;) {
        if (client.poll(5) == sf::Status::Closed) {
            give_up(link.error());
        }
        if (link.now_ms() - sent >= 20) {
            sent = link.now_ms();
            // Over UDP nobody is there before the first command.
            static_cast<void>(client.send(telemetry));
        }
    }
    return 0;
}

int operate(const std::string& kind, const std::string& place) {
    const auto port = static_cast<std::uint16_t>(std::atoi(place.c_str()));
    auto link = kind == "tcp"   ? sf::posix::connect_tcp("127.0.0.1", port)
                : kind == "udp" ? sf::posix::connect_udp("127.0.0.1", port)
                                : sf::posix::open_serial(place);
    if (!link) {
        give_up(link.error());
    }
    sf::Client<> client(link, sf::network, robot::lookup);
    client.header.system = 2;
    int seen = 0;
    client.subscribe<robot::Telemetry>(
        [&](const robot::Telemetry& telemetry) { seen += telemetry.ranges_mm.size() == 32 ? 1 : 0; });
    robot::Command command;
    robot::Acknowledge answer;
    const auto mine = [&](const robot::Acknowledge& one) { return one.sequence == command.sequence; };
    std::string words;
    for (command.sequence = 1; command.sequence <= 2; command.sequence++) {
        if (command.sequence == 1) {
            auto& go = command.order.set_go_to();
            go.target.x = 1.5f;
            go.speed = 0.75f;
        } else {
            command.order.set_halt().reason = "grüße";
        }
        const auto status = client.request(command, answer, 5000, mine);
        if (status != sf::Status::Ok || !answer.accepted || answer.log.size() != 250 || answer.log[249] != 249) {
            give_up(std::string(sf::name(status)) + " " + link.error());
        }
        words += (words.empty() ? "" : ", ") + std::string(answer.note.view());
    }
    for (const auto begin = link.now_ms(); seen < 3 && link.now_ms() - begin < 5000;) {
        client.poll(100);
    }
    if (seen < 3 || client.counters().crc_failures != 0) {
        give_up("telemetry is missing or damaged");
    }
    command.order.set_halt().reason = "hang up";
    if (kind == "tcp") {
        words += client.request(command, answer, 4000, mine) == sf::Status::Closed ? ", closed" : "";
    } else if (client.send(command) != sf::Status::Ok) {
        give_up(link.error());
    }
    std::cout << words << std::endl;
    return 0;
}

}  // namespace

int main(int count, char** words) {
    const std::string place = count > 3 ? words[3] : "";
    return std::string(words[1]) == "robot" ? serve(words[2], place) : operate(words[2], place);
}
