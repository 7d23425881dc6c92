// Writing frames: checksum and header around a payload. Part of structframe.hpp.
#ifndef STRUCTFRAME_FRAME_HPP
#define STRUCTFRAME_FRAME_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "layout.hpp"
#include "sums.hpp"

namespace structframe {

namespace detail {

constexpr Status check(Framing framing, const MessageInfo& info, std::size_t length, std::size_t capacity) {
    if (info.id > 0xff && !framing.has_package()) {
        return Status::IdTooLarge;
    }
    if (!framing.has_length() && length != info.max_size) {
        return Status::PayloadNotWhole;
    }
    if (length > framing.max_payload()) {
        return Status::PayloadTooLong;
    }
    return capacity < framing.overhead() + length ? Status::BufferTooShort : Status::Ok;
}

STRUCTFRAME_INLINE void put_byte(std::uint8_t* out, std::size_t& at, Sums& sums, unsigned byte) {
    out[at++] = static_cast<std::uint8_t>(byte);
    sums.add(byte);
}

// Writes what stands around a payload, which stands at its place already, and at `payload` too. `check` was asked.
STRUCTFRAME_INLINE Written seal(Framing framing, Header header, const MessageInfo& info, const std::uint8_t* payload,
                                std::size_t length, std::uint8_t* out) {
    const auto start = framing.start();
    auto at = framing.start_length();
    Sums sums;
    if (at > 0) {
        out[0] = start[0];
    }
    if (at > 1) {
        out[1] = start[1];
    }
    if (framing.has_sequence()) {
        put_byte(out, at, sums, header.sequence);
    }
    if (framing.has_system()) {
        put_byte(out, at, sums, header.system);
        put_byte(out, at, sums, header.component);
    }
    if (framing.length_bytes() > 0) {
        put_byte(out, at, sums, static_cast<unsigned>(length & 0xffu));
    }
    if (framing.length_bytes() > 1) {
        put_byte(out, at, sums, static_cast<unsigned>(length >> 8 & 0xffu));
    }
    if (framing.has_package()) {
        put_byte(out, at, sums, info.id >> 8);
    }
    put_byte(out, at, sums, info.id & 0xffu);
    if (framing.has_length()) {
        store_bits(out + at + length, checksum(sums, payload, length, info.base_size, info.magic));
        at += 2;
    }
    return {Status::Ok, at + length};
}

}  // namespace detail

// Encodes a message in place and writes its frame.
template <class Message>
STRUCTFRAME_INLINE Written write(const Message& message, Framing framing, Header header, std::uint8_t* out, std::size_t capacity) {
    static_assert(Codec<Message>::has_id, "a message without a msgid cannot be framed");
    constexpr const MessageInfo& info = Codec<Message>::info;
    const auto head = framing.header_length();
    auto status = Status::BufferTooShort;
    if constexpr (detail::is_image<Message>) {
        status = detail::check(framing, info, info.max_size, capacity);
        if (status == Status::Ok) {
            // Summed up where it was read: what was just written in pieces cannot be loaded in words at once.
            const auto* const image = reinterpret_cast<const std::uint8_t*>(&message);
            std::memcpy(out + head, image, info.max_size);
            return detail::seal(framing, header, info, image, info.max_size, out);
        }
    } else if (capacity >= framing.overhead()) {
        const auto payload = encode(message, framing.layout(), out + head, capacity - head);
        status = payload ? detail::check(framing, info, payload.length, capacity) : payload.status;
        if (status == Status::Ok) {
            return detail::seal(framing, header, info, out + head, payload.length, out);
        }
    }
    return {status, 0};
}

// Writes a frame around a payload that has the layout of the framing. Nothing is written unless it succeeds.
inline Written write_payload(const MessageInfo& info, const std::uint8_t* payload, std::size_t length, Framing framing,
                             Header header, std::uint8_t* out, std::size_t capacity) {
    if (const auto status = detail::check(framing, info, length, capacity); status != Status::Ok) {
        return {status, 0};
    }
    auto* const place = out + framing.header_length();
    if (length > 0) {
        std::memmove(place, payload, length);
    }
    return detail::seal(framing, header, info, place, length, out);
}

}  // namespace structframe

#endif
