// The part of a C++ program that does not depend on the group; `lookup` and the cases stand behind it.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

#include "frame_profiles.hpp"

using namespace structframe;

// One message in one framing.
struct Case {
    void (*build)(void* room);
    std::size_t (*write)(const Case&, std::uint8_t* out, std::size_t capacity);
    std::string (*check)(const Case&, const std::uint8_t* bytes, std::size_t length);
    std::uint8_t sequence, system, component;
};

extern const Case CASES[];
extern const std::size_t CASE_COUNT;
MessageInfo lookup(std::uint16_t id);

constexpr std::size_t ROOM = 140000;

inline double real(std::uint64_t bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class Config, class T>
std::size_t write(const Case& of, std::uint8_t* out, std::size_t capacity) {
    // What lies behind the message is not zero: reading it shows.
    alignas(16) static std::uint8_t room[sizeof(T) + 64];
    std::memset(room, 0, sizeof(T));
    std::memset(room + sizeof(T), 0x5a, 64);
    of.build(room);
    const T& message = *reinterpret_cast<const T*>(room);
    BufferWriter<Config> writer(out, capacity);
    if constexpr (Config::has_seq || Config::has_sys_id) {
        return writer.write(message, of.sequence, of.system, of.component);
    } else {
        return writer.write(message);
    }
}

template <class Config>
auto& fresh_reader() {
    static auto reader = make_accumulating_reader<Config, ROOM>(lookup);
    reader.reset();
    return reader;
}

// These readers tell nothing of SEQ, SYS and COMP.
template <class Config, class T>
std::string check(const Case& of, const std::uint8_t* bytes, std::size_t length) {
    alignas(16) static std::uint8_t expected[sizeof(T)];
    alignas(16) static std::uint8_t found[sizeof(T) + 64];
    std::memset(expected, 0, sizeof expected);
    of.build(expected);
    std::string why;
    int frames = 0;
    const auto tell = [&](const char* how, const FrameMsgInfo& frame) {
        frames++;
        std::memset(found, 0, sizeof found);
        T& message = *reinterpret_cast<T*>(found);
        const char* fault = frame.msg_id != T::MSG_ID                           ? "another id"
                            : message.deserialize(frame) == 0 && frame.msg_len > 0 ? "not decoded"
                            : std::memcmp(found, expected, sizeof(T)) != 0      ? "another message"
                                                                                : nullptr;
        if (fault != nullptr && why.empty()) {
            why = std::string(how) + ": " + fault;
        }
    };
    auto whole = make_buffer_reader<Config>(bytes, length, lookup);
    for (int step = 0; step < 3 && whole.has_more(); step++) {
        const FrameMsgInfo frame = whole.next();
        if (!frame.valid) {
            return "whole: not a frame";
        }
        tell("whole", frame);
    }
    auto& reader = fresh_reader<Config>();
    for (std::size_t at = 0; at < length; at++) {
        if (const FrameMsgInfo frame = reader.push_byte(bytes[at])) {
            tell("byte by byte", frame);
        }
    }
    fresh_reader<Config>();
    for (std::size_t at = 0; at < length; at += 7) {
        reader.add_data(bytes + at, length - at < 7 ? length - at : 7);
        while (const FrameMsgInfo frame = reader.next()) {
            tell("in chunks", frame);
        }
    }
    return why.empty() && frames != 3 ? "not three frames" : why;
}

static std::uint8_t frame[ROOM];

inline int encode(std::FILE* out) {
    for (std::size_t i = 0; i < CASE_COUNT; i++) {
        const std::size_t length = CASES[i].write(CASES[i], frame, sizeof frame);
        const std::uint32_t size = length == 0 ? UINT32_MAX : static_cast<std::uint32_t>(length);
        std::fwrite(&size, 1, 4, out);
        std::fwrite(frame, 1, length, out);
    }
    return 0;
}

inline int decode(std::FILE* in) {
    for (std::size_t i = 0; i < CASE_COUNT; i++) {
        std::uint32_t length;
        std::string why;
        if (std::fread(&length, 1, 4, in) != 4) {
            return 1;
        }
        if (length != UINT32_MAX) {
            if (length > sizeof frame || std::fread(frame, 1, length, in) != length) {
                return 1;
            }
            why = CASES[i].check(CASES[i], frame, length);
        }
        std::puts(why.empty() ? "ok" : ("bad " + why).c_str());
    }
    return 0;
}

int main(int count, char** words) {
    const std::string verb = count > 1 ? words[1] : "";
    if (verb == "load") {
        return 0;
    }
    std::FILE* file = count == 3 ? std::fopen(words[2], verb == "encode" ? "wb" : "rb") : nullptr;
    if (file == nullptr) {
        return 2;
    }
    const int status = verb == "encode" ? encode(file) : decode(file);
    return std::fclose(file) == 0 ? status : 1;
}
