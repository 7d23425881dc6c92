// The part of a matrix program that does not depend on the suite; what does stands in front of it or behind it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace sf = structframe;

struct Case {
    sf::Framing framing;
    sf::Header header;
    sf::Header read;
    sf::Written (*write)(const Case&, std::uint8_t*, std::size_t);
    const char* (*check)(const Case&, const sf::Event&);
};

extern const std::vector<Case> cases;
extern const std::vector<sf::Framing> framings;
extern const sf::Lookup lookup;

// What was made of messages that could be decoded.
struct Sum {
    unsigned long accepted = 0;
    std::uint32_t sum = 0;

    void add(const std::uint8_t* bytes, std::size_t length) {
        accepted++;
        for (std::size_t i = 0; i < length; i++) {
            sum = sum * 31 + bytes[i];
        }
    }
};

// Decodes any known message and writes it again.
void again(sf::Framing framing, const sf::Event& frame, Sum& sum);

constexpr std::size_t room = 2 * (0xffff + sf::max_overhead);

inline void must(bool done) {
    if (!done) {
        std::abort();
    }
}

template <class T, T (*Build)()>
sf::Written write_case(const Case& of, std::uint8_t* out, std::size_t capacity) {
    return sf::write(Build(), of.framing, of.header, out, capacity);
}

// A NaN equals nothing: such values are compared by their bytes.
template <class T>
bool same_bytes(const T& a, const T& b) {
    std::vector<std::uint8_t> first(sf::Codec<T>::info.max_size);
    std::vector<std::uint8_t> second(first.size());
    return sf::encode(a, sf::Layout::Fixed, first.data(), first.size()) &&
           sf::encode(b, sf::Layout::Fixed, second.data(), second.size()) && first == second;
}

template <class T, T (*Build)(), bool Nan>
const char* check_case(const Case& of, const sf::Event& event) {
    T found;
    if (event.kind != sf::EventKind::Frame) {
        return "damaged";
    }
    if (sf::read(found, of.framing, event) != sf::Status::Ok) {
        return "not decoded";
    }
    const T expected = Build();
    if (Nan ? !same_bytes(found, expected) : found != expected) {
        return "another message";
    }
    if (event.header.sequence != of.read.sequence || event.header.system != of.read.system ||
        event.header.component != of.read.component) {
        return "another header";
    }
    return event.info == lookup.find(event.id) ? nullptr : "another lookup";
}

template <class Tell>
void stream_through(sf::Framing framing, const std::vector<std::uint8_t>& bytes, std::size_t chunk, Tell tell) {
    static sf::Stream<room> stream(framing, lookup);
    stream = sf::Stream<room>(framing, lookup);
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
        stream.feed(bytes.data() + at, std::min(chunk, bytes.size() - at), tell);
    }
    stream.finish(tell);
}

inline std::uint32_t number(const std::vector<char>& bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; i++) {
        value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes.at(at + i))) << (8 * i);
    }
    return value;
}

inline int encode_all(const char* path) {
    std::ofstream out(path, std::ios::binary);
    std::vector<std::uint8_t> frame(room);
    for (const auto& of : cases) {
        const auto written = of.write(of, frame.data(), frame.size());
        const auto length = written ? static_cast<std::uint32_t>(written.length) : 0xffffffffu;
        for (unsigned i = 0; i < 4; i++) {
            out.put(static_cast<char>(length >> (8 * i) & 0xffu));
        }
        out.write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(written.length));
    }
    return out ? 0 : 1;
}

inline int decode_all(const std::vector<char>& in) {
    std::size_t at = 0;
    for (const auto& of : cases) {
        const auto length = number(in, at);
        at += 4;
        if (length == 0xffffffffu) {
            std::puts("ok");
            continue;
        }
        const std::vector<std::uint8_t> frame(in.data() + at, in.data() + at + length);
        at += length;
        const char* why = nullptr;
        int frames = 0;
        const auto tell = [&](const sf::Event& event) {
            const char* fault = of.check(of, event);
            why = fault != nullptr ? fault : why;
            frames++;
        };
        sf::BufferReader reader(of.framing, lookup, frame.data(), frame.size());
        while (const auto event = reader.next()) {
            tell(*event);
        }
        if (!sf::parse(of.framing, lookup, frame.data(), frame.size())) {
            why = "not parsed";
        }
        stream_through(of.framing, frame, 1, tell);
        stream_through(of.framing, frame, 7, tell);
        if (why == nullptr && frames != 3) {
            why = "not three frames";
        }
        std::cout << (why == nullptr ? "ok" : std::string("bad ") + why) << "\n";
    }
    return 0;
}

inline int hostile(const std::vector<char>& in) {
    unsigned long frames = 0;
    unsigned long bad = 0;
    Sum sum;
    for (std::size_t at = 0; at < in.size();) {
        const auto framing = framings.at(static_cast<std::uint8_t>(in[at]));
        const auto length = number(in, at + 1);
        // In memory of its own size, so that a sanitizer sees every byte too far.
        const std::vector<std::uint8_t> bytes(in.data() + at + 5, in.data() + at + 5 + length);
        at += 5 + length;
        unsigned long found[3] = {0, 0, 0};
        unsigned long damaged[3] = {0, 0, 0};
        Sum sums[3] = {sum, sum, sum};
        std::size_t reader_index = 0;
        const auto tell = [&](const sf::Event& event) {
            found[reader_index] += event.kind == sf::EventKind::Frame;
            damaged[reader_index] += event.kind == sf::EventKind::BadChecksum;
            if (event.kind == sf::EventKind::Frame) {
                again(framing, event, sums[reader_index]);
            }
        };
        sf::BufferReader reader(framing, lookup, bytes.data(), bytes.size());
        while (const auto event = reader.next()) {
            tell(*event);
        }
        for (const std::size_t chunk : {1, 7}) {
            reader_index++;
            stream_through(framing, bytes, chunk, tell);
            if (found[reader_index] != found[0] || damaged[reader_index] != damaged[0] ||
                sums[reader_index].sum != sums[0].sum) {
                std::cerr << "readers disagree\n";
                return 1;
            }
        }
        frames += found[0];
        bad += damaged[0];
        sum = sums[0];
    }
    std::cout << "done " << frames << " " << bad << " " << sum.accepted << " " << sum.sum << "\n";
    return 0;
}

int main(int count, char** words) {
    if (count != 3) {
        return 2;
    }
    const std::string verb = words[1];
    if (verb == "encode") {
        return encode_all(words[2]);
    }
    std::ifstream file(words[2], std::ios::binary);
    const std::vector<char> in{std::istreambuf_iterator<char>(file), {}};
    return verb == "decode" ? decode_all(in) : hostile(in);
}
