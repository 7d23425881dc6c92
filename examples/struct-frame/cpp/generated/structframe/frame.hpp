// Writing frames: checksum and header around a payload. Part of structframe.hpp.
#ifndef STRUCTFRAME_FRAME_HPP
#define STRUCTFRAME_FRAME_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "layout.hpp"

namespace structframe {

namespace detail {

// Two sums modulo 256: of the bytes, and of the first sum after each byte.
class Sums {
public:
    // Sums lane by lane, which compilers turn into vector code; the lanes are put together at the end.
    void roll(const std::uint8_t* bytes, std::size_t length) {
        constexpr std::size_t lanes = 16;
        if (length >= 4 * lanes) {
            std::uint8_t first[lanes] = {};
            std::uint8_t second[lanes] = {};
            const auto blocks = length / lanes;
            b_ += static_cast<std::uint32_t>(blocks * lanes) * a_;
            for (std::size_t block = 0; block < blocks; block++, bytes += lanes) {
                for (std::size_t lane = 0; lane < lanes; lane++) {
                    second[lane] = static_cast<std::uint8_t>(second[lane] + first[lane]);
                    first[lane] = static_cast<std::uint8_t>(first[lane] + bytes[lane]);
                }
            }
            for (std::size_t lane = 0; lane < lanes; lane++) {
                a_ += first[lane];
                b_ += static_cast<std::uint32_t>(lanes * second[lane] + (lanes - lane) * first[lane]);
            }
            length -= blocks * lanes;
        }
        for (std::size_t i = 0; i < length; i++) {
            a_ += bytes[i];
            b_ += a_;
        }
    }
    std::array<std::uint8_t, 2> value() const {
        return {static_cast<std::uint8_t>(a_ & 0xffu), static_cast<std::uint8_t>(b_ & 0xffu)};
    }

private:
    std::uint32_t a_ = 0;
    std::uint32_t b_ = 0;
};

// Over what follows the start bytes, with the seeds after the base part. For an unknown id the seeds are zeros behind the
// payload.
inline std::array<std::uint8_t, 2> checksum(const std::uint8_t* fields, std::size_t fields_length,
                                            const std::uint8_t* payload, std::size_t length, const MessageInfo* info) {
    constexpr std::array<std::uint8_t, 2> zeros{};
    const auto base = info != nullptr && info->base_size < length ? info->base_size : length;
    Sums sums;
    sums.roll(fields, fields_length);
    sums.roll(payload, base);
    sums.roll(info != nullptr ? info->magic.data() : zeros.data(), 2);
    sums.roll(payload + base, length - base);
    return sums.value();
}

inline Status check(Framing framing, const MessageInfo& info, std::size_t length) {
    if (info.id > 0xff && !framing.has_package()) {
        return Status::IdTooLarge;
    }
    if (!framing.has_length() && length != info.max_size) {
        return Status::PayloadNotWhole;
    }
    return length <= framing.max_payload() ? Status::Ok : Status::PayloadTooLong;
}

// Writes a frame around a payload that stands at its place already.
inline Written seal(Framing framing, Header header, const MessageInfo& info, std::size_t payload_length,
                    std::uint8_t* out, std::size_t capacity) {
    if (const auto status = check(framing, info, payload_length); status != Status::Ok) {
        return {status, 0};
    }
    const auto total = framing.overhead() + payload_length;
    if (capacity < total) {
        return {Status::BufferTooShort, 0};
    }
    const auto head = framing.start_length();
    const auto start = framing.start();
    auto at = head;
    std::copy(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(head), out);
    if (framing.has_sequence()) {
        out[at++] = header.sequence;
    }
    if (framing.has_system()) {
        out[at++] = header.system;
        out[at++] = header.component;
    }
    if (framing.length_bytes() > 0) {
        out[at++] = static_cast<std::uint8_t>(payload_length & 0xffu);
    }
    if (framing.length_bytes() > 1) {
        out[at++] = static_cast<std::uint8_t>(payload_length >> 8);
    }
    if (framing.has_package()) {
        out[at++] = static_cast<std::uint8_t>(info.id >> 8);
    }
    out[at++] = static_cast<std::uint8_t>(info.id & 0xffu);
    if (framing.has_length()) {
        const auto sums = checksum(out + head, at - head, out + at, payload_length, &info);
        std::copy(sums.begin(), sums.end(), out + at + payload_length);
    }
    return {Status::Ok, total};
}

}  // namespace detail

// Encodes a message in place and writes its frame.
template <class Message>
Written write(const Message& message, Framing framing, Header header, std::uint8_t* out, std::size_t capacity) {
    static_assert(Codec<Message>::has_id, "a message without a msgid cannot be framed");
    const auto head = framing.header_length();
    if (capacity < framing.overhead()) {
        return {Status::BufferTooShort, 0};
    }
    const auto payload = encode(message, framing.layout(), out + head, capacity - head);
    return payload ? detail::seal(framing, header, Codec<Message>::info, payload.length, out, capacity) : payload;
}

// Writes a frame around a payload that has the layout of the framing. Nothing is written unless it succeeds.
inline Written write_payload(const MessageInfo& info, const std::uint8_t* payload, std::size_t length, Framing framing,
                             Header header, std::uint8_t* out, std::size_t capacity) {
    if (const auto status = detail::check(framing, info, length); status != Status::Ok) {
        return {status, 0};
    }
    if (capacity < framing.overhead() + length) {
        return {Status::BufferTooShort, 0};
    }
    if (length > 0) {
        std::memmove(out + framing.header_length(), payload, length);
    }
    return detail::seal(framing, header, info, length, out, capacity);
}

}  // namespace structframe

#endif
