// What readers find and count, and what one position of the input looks like. Part of structframe.hpp.
#ifndef STRUCTFRAME_EVENT_HPP
#define STRUCTFRAME_EVENT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "frame.hpp"

namespace structframe {

// What a reader found.
enum class EventKind {
    Frame,        // a good frame
    BadChecksum,  // a complete frame whose checksum is wrong; nothing in it can be relied upon
    Skipped,      // bytes between frames
    Truncated,    // a frame that was not complete when the input ended
};

// One thing that a reader found. Pointers are good until the reader goes on.
struct Event {
    EventKind kind = EventKind::Skipped;
    std::uint64_t start = 0;  // where it stands in the input
    std::uint64_t end = 0;
    // Of a good frame, and as claimed by one with a wrong checksum:
    std::uint16_t id = 0;  // effective id
    Header header;
    std::size_t payload_length = 0;
    // Of a good frame:
    const std::uint8_t* payload = nullptr;
    const MessageInfo* info = nullptr;  // null for an id that the lookup does not know
    bool recovered = false;             // found inside damaged bytes
    // Of a frame with a wrong checksum:
    Array<std::uint8_t, 2> expected{};  // computed
    Array<std::uint8_t, 2> found{};     // carried
};

// Decodes the message in a good frame of this framing.
template <class Message>
[[nodiscard]] STRUCTFRAME_INLINE Status read(Message& message, Framing framing, const Event& frame) {
    if (frame.kind != EventKind::Frame || frame.id != Codec<Message>::info.id) {
        return Status::OtherMessage;
    }
    return decode(message, framing.layout(), frame.payload, frame.payload_length);
}

namespace detail {

template <class Message, class Visit>
Status visit_as(Framing framing, const Event& frame, Visit& visit) {
    Message message;
    const auto status = read(message, framing, frame);
    if (status == Status::Ok) {
        visit(static_cast<const Message&>(message));
    }
    return status;
}

}  // namespace detail

// What a reader has counted. Counters stop at their largest value.
struct Counters {
    std::uint32_t frames = 0;           // good frames, recovered ones included
    std::uint32_t recovered = 0;        // good frames found inside damaged bytes
    std::uint32_t unknown_ids = 0;      // good frames of unknown ids
    std::uint32_t crc_failures = 0;     // complete frames with a wrong checksum
    std::uint32_t sync_recoveries = 0;  // wrong checksums, and start bytes that turned out to begin nothing
    std::uint32_t failed_bytes = 0;     // bytes of both
    std::uint32_t noise_bytes = 0;      // bytes outside frames that did not even look like a start
    std::uint32_t len_errors = 0;       // lengths outside MIN_SIZE to MAX_SIZE; newer peers may send such frames
    std::uint32_t seq_gaps = 0;         // sequence numbers that do not follow the frame before
};

namespace detail {

// What stands at a position.
struct Look {
    enum Kind {
        Noise,       // no frame begins within `total` bytes
        FalseStart,  // two bytes: the first start byte, and not the second
        Short,       // perhaps a frame; `total` bytes will tell more
        Claims,      // a header whose frame is not all there
        Whole,       // a header whose frame is all there
    };
    Kind kind = Noise;
    std::uint16_t id = 0;
    std::uint16_t length = 0;           // of the payload
    std::size_t total = 1;              // bytes of the whole frame
    const MessageInfo* info = nullptr;
};

// Looks at the first of `left` bytes.
inline Look examine(Framing framing, const Lookup& lookup, const std::uint8_t* bytes, std::size_t left) {
    Look look;
    const auto start = framing.start();
    if (left == 0) {
        look.kind = Look::Short;
        return look;
    }
    if (framing.start_length() > 0 && bytes[0] != start[0]) {
        const auto* at = static_cast<const std::uint8_t*>(std::memchr(bytes, start[0], left));
        look.total = at != nullptr ? static_cast<std::size_t>(at - bytes) : left;
        return look;
    }
    if (framing.start_length() > 1 && left > 1 && bytes[1] != start[1]) {
        look.kind = bytes[1] == start[0] ? Look::Noise : Look::FalseStart;
        return look;
    }
    const auto header = framing.header_length();
    if (left < header) {
        look.kind = Look::Short;
        look.total = header;
        return look;
    }
    const auto* field = bytes + header - 1;
    unsigned id = *field;
    if (framing.has_package()) {
        id |= static_cast<unsigned>(*--field) << 8;
    }
    look.id = static_cast<std::uint16_t>(id);
    look.info = lookup.find(look.id);
    std::size_t length = 0;
    if (framing.has_length()) {
        length = *--field;
        if (framing.length_bytes() > 1) {
            length = length << 8 | *--field;
        }
    } else if (look.info != nullptr) {
        length = look.info->max_size;
    } else {
        return look;
    }
    look.length = static_cast<std::uint16_t>(length);
    look.total = framing.overhead() + length;
    look.kind = left < look.total ? Look::Claims : Look::Whole;
    return look;
}

// The checksum that a whole frame should have. For an unknown id the seeds are zeros after the payload.
inline std::uint16_t checksum_of(Framing framing, const Look& found, const std::uint8_t* frame) {
    const auto head = framing.start_length();
    const auto fields = framing.header_length() - head;
    const auto* const info = found.info;
    return checksum({}, frame + head, fields + found.length, fields + (info != nullptr ? info->base_size : found.length),
                    info != nullptr ? info->magic : Array<std::uint8_t, 2>{});
}

// The checksum that a whole frame has.
inline std::uint16_t carried(const Look& found, const std::uint8_t* frame) {
    return load_bits<std::uint16_t>(frame + found.total - 2);
}

}  // namespace detail

}  // namespace structframe

#endif
