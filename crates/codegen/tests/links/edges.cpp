// What links do when something is wrong. Says `done` when all is as it should be; run by `links.rs`.
#include "robot.structframe.hpp"
#include "structframe/posix.hpp"

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace sf = structframe;

static void check(bool sound, const std::string& what) {
    if (!sound) {
        std::cerr << what << "\n";
        std::exit(1);
    }
}

static void refuses(const sf::posix::Link& link, const std::string& words) {
    check(!link && link.error().find(words) != std::string::npos, words + " is not in: " + link.error());
}

int main() {
    // Opening what is not there, or is something else.
    refuses(sf::posix::connect_tcp("127.0.0.1", 1), "connect to 127.0.0.1:1: ");
    refuses(sf::posix::open_serial("/dev/no-such-port"), "open /dev/no-such-port: ");
    refuses(sf::posix::open_serial("/dev/null", 12345), "12345 baud");
    refuses(sf::posix::open_serial("/dev/null"), "open /dev/null: ");
    refuses(sf::posix::Listener(0).accept(10), "accept: ");
    refuses(sf::posix::Listener(0, "not a host").accept(10), "listen on not a host:0: ");

    // A peer that reads nothing does not hold a sender for ever.
    sf::posix::Listener listener(0);
    auto link = sf::posix::connect_tcp("127.0.0.1", listener.port());
    auto other = listener.accept(1000);
    link.send_timeout_ms = 100;
    const std::vector<std::uint8_t> much(1 << 25);
    const auto begin = link.now_ms();
    check(!link.send(much.data(), much.size()) && link.now_ms() - begin < 5000, "send does not end: " + link.error());

    // The end of a connection, after everything that came before it.
    std::uint8_t buffer[4096];
    link.close();
    std::ptrdiff_t received = 0;
    std::size_t total = 0;
    do {
        received = other.receive(buffer, sizeof buffer, 1000);
        total += received > 0 ? static_cast<std::size_t>(received) : 0;
    } while (received > 0);
    check(received < 0 && total > 0, "the end is not told: " + other.error());
    check(link.receive(buffer, sizeof buffer, 10) <= 0 && !link.send(buffer, 1), "a closed link is closed");

    // Datagrams: nobody to answer, nobody there yet, one that is longer than the room for it.
    auto robot = sf::posix::listen_udp(0);
    check(!robot.send(buffer, 1), "nobody has sent anything yet");
    auto lonely = sf::posix::connect_udp("127.0.0.1", 1);
    for (int i = 0; i < 5; i++) {
        check(lonely.send(buffer, 1) && lonely.receive(buffer, sizeof buffer, 5) == 0, "nobody is there: " + lonely.error());
    }
    auto sender = sf::posix::connect_udp("127.0.0.1", robot.port());
    check(sender.send(much.data(), 1500), sender.error());
    for (total = 0; total < 1500;) {
        received = robot.receive(buffer, 256, 1000);
        check(received > 0, "the datagram is cut: " + robot.error());
        total += static_cast<std::size_t>(received);
    }
    check(total == 1500, "the datagram has grown");
    check(!sender.send(much.data(), much.size()), "no datagram is that long");
    std::cout << "done" << std::endl;
}
