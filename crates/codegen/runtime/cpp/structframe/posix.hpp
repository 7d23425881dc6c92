// Transports of POSIX systems: TCP, UDP and serial ports. Not part of structframe.hpp: include it where it is needed.
//
//     auto link = structframe::posix::connect_tcp("robot.local", 7000);
//     if (!link) { std::cerr << link.error() << "\n"; return 1; }
//     structframe::Client<> client(link, structframe::network, robot::lookup);
//
// Nothing throws; what failed, and why, is in error().
#ifndef STRUCTFRAME_POSIX_HPP
#define STRUCTFRAME_POSIX_HPP

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "client.hpp"

namespace structframe::posix {

namespace detail {

// Owns a file descriptor.
class File {
public:
    File() = default;
    explicit File(int number) : number_(number) {}
    File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    File& operator=(File&& other) noexcept {
        // What was open is closed at once, not when the other object ends.
        File old(std::exchange(number_, other.release()));
        return *this;
    }
    ~File() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    int number() const { return number_; }
    int release() { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

inline std::uint32_t now_ms() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// Waits until one of `events` happens: positive when it did, 0 when the time is over, negative with errno.
inline int wait(int file, short events, std::uint32_t timeout_ms) {
    const auto begin = now_ms();
    for (;;) {
        const auto passed = now_ms() - begin;
        const auto left = passed < timeout_ms ? timeout_ms - passed : 0u;
        pollfd waiting{file, events, 0};
        const auto most = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
        const int happened = ::poll(&waiting, 1, static_cast<int>(std::min(left, most)));
        if (happened >= 0 || errno != EINTR) {
            return happened;
        }
    }
}

inline bool unblock(int file) {
    const int flags = ::fcntl(file, F_GETFL, 0);
    return flags >= 0 && ::fcntl(file, F_SETFL, flags | O_NONBLOCK) == 0 && ::fcntl(file, F_SETFD, FD_CLOEXEC) == 0;
}

inline std::string failed(const std::string& what, int code) { return what + ": " + std::strerror(code); }

inline void set(int file, int level, int option) {
    const int on = 1;
    static_cast<void>(::setsockopt(file, level, option, &on, sizeof on));
}

// The local port of a socket; 0 when there is none.
inline std::uint16_t port(int file) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    char text[NI_MAXSERV] = {};
    auto* const there = reinterpret_cast<sockaddr*>(&address);
    if (::getsockname(file, there, &length) != 0 ||
        ::getnameinfo(there, length, nullptr, 0, text, sizeof text, NI_NUMERICSERV) != 0) {
        return 0;
    }
    return static_cast<std::uint16_t>(std::strtoul(text, nullptr, 10));
}

// The addresses of a host, freed at the end.
class Addresses {
public:
    Addresses(const std::string& host, std::uint16_t port, int type, bool passive, int family = AF_UNSPEC) {
        addrinfo hints{};
        hints.ai_family = family;
        hints.ai_socktype = type;
        hints.ai_flags = passive ? AI_PASSIVE : 0;
        const auto service = std::to_string(port);
        const int code = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &first_);
        if (code != 0) {
            first_ = nullptr;
            error_ = ::gai_strerror(code);
        }
    }
    Addresses(const Addresses&) = delete;
    Addresses& operator=(const Addresses&) = delete;
    ~Addresses() {
        if (first_ != nullptr) {
            ::freeaddrinfo(first_);
        }
    }
    const addrinfo* first() const { return first_; }
    const std::string& error() const { return error_; }

private:
    addrinfo* first_ = nullptr;
    std::string error_;
};

inline std::string place(const std::string& host, std::uint16_t port) { return host + ":" + std::to_string(port); }

}  // namespace detail

enum class LinkKind { Stream, Datagram, Terminal };

// An open connection, or the reason why there is none.
class Link final : public Transport {
public:
    Link(int file, LinkKind kind, bool connected) : file_(file), kind_(kind), connected_(connected) {
        if (!detail::unblock(file)) {
            fail("set up a link");
        } else if (kind == LinkKind::Datagram) {
            datagram_.resize(65536);
        }
    }
    explicit Link(std::string error) : error_(std::move(error)) {}

    // False when it could not be opened.
    explicit operator bool() const { return file_.number() >= 0; }
    // What failed last, with the reason.
    const std::string& error() const { return error_; }
    int file() const { return file_.number(); }
    // Closes the connection; it cannot be used afterwards.
    void close() {
        file_ = detail::File();
        error_ = "closed";
    }
    std::uint16_t port() const { return detail::port(file_.number()); }

    // How long `send` waits for the other side to make room.
    std::uint32_t send_timeout_ms = 5000;

    bool send(const std::uint8_t* data, std::size_t length) override {
        const auto begin = detail::now_ms();
        bool again = false;
        while (length > 0) {
            const auto sent = put(data, length);
            if (sent >= 0) {
                data += sent;
                length -= static_cast<std::size_t>(sent);
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                const auto passed = detail::now_ms() - begin;
                if (passed >= send_timeout_ms ||
                    detail::wait(file_.number(), POLLOUT, send_timeout_ms - passed) <= 0) {
                    errno = ETIMEDOUT;
                    return fail("send");
                }
            } else if (errno == ECONNREFUSED && kind_ == LinkKind::Datagram && !again) {
                // The news is about an earlier datagram; this one has not been sent.
                again = true;
            } else if (errno == ECONNREFUSED && kind_ == LinkKind::Datagram) {
                return true;
            } else if (errno != EINTR) {
                return fail("send");
            }
        }
        return true;
    }

    std::ptrdiff_t receive(std::uint8_t* data, std::size_t capacity, std::uint32_t timeout_ms) override {
        if (kind_ == LinkKind::Datagram) {
            return receive_datagram(data, capacity, timeout_ms);
        }
        const int happened = detail::wait(file_.number(), POLLIN, timeout_ms);
        if (happened == 0) {
            return 0;
        }
        const auto received = happened < 0 ? -1 : ::read(file_.number(), data, capacity);
        if (received > 0) {
            return received;
        }
        if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            return 0;
        }
        if (received == 0) {
            error_ = "closed by the other side";
        } else {
            fail("receive");
        }
        return -1;
    }

    std::uint32_t now_ms() override { return detail::now_ms(); }

private:
    bool fail(const char* what) {
        error_ = detail::failed(what, errno);
        return false;
    }

    ssize_t put(const std::uint8_t* data, std::size_t length) {
        switch (kind_) {
        case LinkKind::Stream:
            return ::send(file_.number(), data, length, no_signal);
        case LinkKind::Terminal:
            return ::write(file_.number(), data, length);
        case LinkKind::Datagram:
            break;
        }
        if (connected_) {
            return ::send(file_.number(), data, length, no_signal);
        }
        if (last_length_ == 0) {
            // Neither was a peer given, nor has one sent a datagram.
            errno = EDESTADDRREQ;
            return -1;
        }
        return ::sendto(file_.number(), data, length, no_signal, reinterpret_cast<const sockaddr*>(&last_),
                        last_length_);
    }

    // A datagram is read whole, and handed out in as many pieces as the caller's room makes of it.
    std::ptrdiff_t receive_datagram(std::uint8_t* data, std::size_t capacity, std::uint32_t timeout_ms) {
        if (taken_ == filled_) {
            const int happened = detail::wait(file_.number(), POLLIN, timeout_ms);
            if (happened <= 0) {
                return happened == 0 ? 0 : -1;
            }
            last_length_ = sizeof last_;
            const auto received = ::recvfrom(file_.number(), datagram_.data(), datagram_.size(), 0,
                                             reinterpret_cast<sockaddr*>(&last_), &last_length_);
            if (received < 0) {
                last_length_ = 0;
                // The news that an earlier datagram was not delivered is no end.
                if (errno == ECONNREFUSED || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
                    return 0;
                }
                fail("receive");
                return -1;
            }
            taken_ = 0;
            filled_ = static_cast<std::size_t>(received);
        }
        const auto count = std::min(capacity, filled_ - taken_);
        std::memcpy(data, datagram_.data() + taken_, count);
        taken_ += count;
        return static_cast<std::ptrdiff_t>(count);
    }

#ifdef MSG_NOSIGNAL
    static constexpr int no_signal = MSG_NOSIGNAL;
#else
    static constexpr int no_signal = 0;
#endif

    detail::File file_;
    std::string error_;
    LinkKind kind_ = LinkKind::Stream;
    bool connected_ = false;
    std::vector<std::uint8_t> datagram_;
    std::size_t taken_ = 0;
    std::size_t filled_ = 0;
    sockaddr_storage last_{};
    socklen_t last_length_ = 0;
};

// Takes over a connected stream socket.
inline Link over_socket(int file) {
    detail::set(file, IPPROTO_TCP, TCP_NODELAY);
#ifdef SO_NOSIGPIPE
    detail::set(file, SOL_SOCKET, SO_NOSIGPIPE);
#endif
    return Link(file, LinkKind::Stream, true);
}

// Connects to a server; each of its addresses has `timeout_ms` to answer.
inline Link connect_tcp(const std::string& host, std::uint16_t port, std::uint32_t timeout_ms = 5000) {
    const auto what = "connect to " + detail::place(host, port);
    const detail::Addresses addresses(host, port, SOCK_STREAM, false);
    if (addresses.first() == nullptr) {
        return Link(what + ": " + addresses.error());
    }
    int code = 0;
    for (const auto* address = addresses.first(); address != nullptr; address = address->ai_next) {
        detail::File file(::socket(address->ai_family, address->ai_socktype, address->ai_protocol));
        if (file.number() < 0 || !detail::unblock(file.number())) {
            code = errno;
            continue;
        }
        if (::connect(file.number(), address->ai_addr, address->ai_addrlen) != 0) {
            code = errno;
            if (code == EINPROGRESS || code == EINTR) {
                const int happened = detail::wait(file.number(), POLLOUT, timeout_ms);
                socklen_t length = sizeof code;
                if (happened <= 0) {
                    code = ETIMEDOUT;
                } else if (::getsockopt(file.number(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) {
                    code = errno;
                }
            }
            if (code != 0) {
                continue;
            }
        }
        return over_socket(file.release());
    }
    return Link(detail::failed(what, code));
}

// A server's socket.
class Listener {
public:
    // Port 0 takes a free one.
    explicit Listener(std::uint16_t port, const std::string& host = "127.0.0.1") {
        const auto what = "listen on " + detail::place(host, port);
        const detail::Addresses addresses(host, port, SOCK_STREAM, true);
        error_ = what + ": " + addresses.error();
        for (const auto* address = addresses.first(); address != nullptr; address = address->ai_next) {
            detail::File file(::socket(address->ai_family, address->ai_socktype, address->ai_protocol));
            if (file.number() >= 0) {
                detail::set(file.number(), SOL_SOCKET, SO_REUSEADDR);
            }
            if (file.number() >= 0 && detail::unblock(file.number()) &&
                ::bind(file.number(), address->ai_addr, address->ai_addrlen) == 0 && ::listen(file.number(), 16) == 0) {
                file_ = std::move(file);
                error_.clear();
                return;
            }
            error_ = detail::failed(what, errno);
        }
    }

    explicit operator bool() const { return file_.number() >= 0; }
    const std::string& error() const { return error_; }
    std::uint16_t port() const { return detail::port(file_.number()); }

    // Waits for a client.
    Link accept(std::uint32_t timeout_ms) {
        if (!*this) {
            return Link(error_);
        }
        if (detail::wait(file_.number(), POLLIN, timeout_ms) <= 0) {
            return Link(detail::failed("accept", ETIMEDOUT));
        }
        const int file = ::accept(file_.number(), nullptr, nullptr);
        return file < 0 ? Link(detail::failed("accept", errno)) : over_socket(file);
    }

private:
    detail::File file_;
    std::string error_;
};

// A UDP socket that only talks to one peer: a frame per datagram. Local port 0 takes a free one.
inline Link connect_udp(const std::string& host, std::uint16_t port, std::uint16_t local_port = 0) {
    const auto what = "send to " + detail::place(host, port);
    const detail::Addresses addresses(host, port, SOCK_DGRAM, false);
    if (addresses.first() == nullptr) {
        return Link(what + ": " + addresses.error());
    }
    const auto* address = addresses.first();
    detail::File file(::socket(address->ai_family, address->ai_socktype, address->ai_protocol));
    const detail::Addresses local("", local_port, SOCK_DGRAM, true, address->ai_family);
    if (file.number() < 0 || local.first() == nullptr ||
        ::bind(file.number(), local.first()->ai_addr, local.first()->ai_addrlen) != 0 ||
        ::connect(file.number(), address->ai_addr, address->ai_addrlen) != 0) {
        return Link(detail::failed(what, errno));
    }
    return Link(file.release(), LinkKind::Datagram, true);
}

// A UDP socket that answers: frames go to the sender of the last datagram.
inline Link listen_udp(std::uint16_t port, const std::string& host = "127.0.0.1") {
    const auto what = "listen on " + detail::place(host, port);
    const detail::Addresses addresses(host, port, SOCK_DGRAM, true);
    if (addresses.first() == nullptr) {
        return Link(what + ": " + addresses.error());
    }
    const auto* address = addresses.first();
    detail::File file(::socket(address->ai_family, address->ai_socktype, address->ai_protocol));
    if (file.number() < 0 || ::bind(file.number(), address->ai_addr, address->ai_addrlen) != 0) {
        return Link(detail::failed(what, errno));
    }
    return Link(file.release(), LinkKind::Datagram, false);
}

// A serial port or another terminal device, in raw mode, 8N1.
inline Link open_serial(const std::string& path, std::uint32_t baud = 115200) {
    static constexpr std::pair<std::uint32_t, speed_t> speeds[] = {
        {1200, B1200},     {2400, B2400},     {4800, B4800},     {9600, B9600},
        {19200, B19200},   {38400, B38400},   {57600, B57600},   {115200, B115200},
        {230400, B230400},
#ifdef B460800
        {460800, B460800},
#endif
#ifdef B921600
        {921600, B921600},
#endif
#ifdef B1000000
        {1000000, B1000000},
#endif
#ifdef B2000000
        {2000000, B2000000},
#endif
#ifdef B3000000
        {3000000, B3000000},
#endif
    };
    const auto* const end = std::end(speeds);
    const auto* const speed = std::find_if(std::begin(speeds), end, [&](const auto& one) { return one.first == baud; });
    if (speed == end) {
        return Link("open " + path + ": " + std::to_string(baud) + " baud is not a speed that this system has a name for");
    }
    detail::File file(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK));
    termios settings{};
    if (file.number() < 0 || ::tcgetattr(file.number(), &settings) != 0) {
        return Link(detail::failed("open " + path, errno));
    }
    settings.c_iflag &= ~static_cast<tcflag_t>(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    settings.c_cflag &= ~static_cast<tcflag_t>(CSIZE | PARENB | CSTOPB);
    settings.c_cflag |= static_cast<tcflag_t>(CS8 | CLOCAL | CREAD);
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    if (::cfsetispeed(&settings, speed->second) != 0 || ::cfsetospeed(&settings, speed->second) != 0 ||
        ::tcsetattr(file.number(), TCSANOW, &settings) != 0) {
        return Link(detail::failed("set up " + path, errno));
    }
    return Link(file.release(), LinkKind::Terminal, true);
}

}  // namespace structframe::posix

#endif
