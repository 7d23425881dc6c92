// What readers find and count, and what one position of the input looks like. Part of structframe.hpp.
#ifndef STRUCTFRAME_EVENT_HPP
#define STRUCTFRAME_EVENT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

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
    std::array<std::uint8_t, 2> expected{};  // computed
    std::array<std::uint8_t, 2> found{};     // carried
};

// Decodes the message in a good frame of this framing.
template <class Message>
[[nodiscard]] Status read(Message& message, Framing framing, const Event& frame) {
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
        visit(std::as_const(message));
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

// Bytes of the input that are at hand.
struct Window {
    const std::uint8_t* bytes = nullptr;
    std::size_t length = 0;
    std::uint64_t base = 0;  // absolute position of the first

    std::uint64_t end() const { return base + length; }
    // The bytes from one position up to another, or to the end.
    Window part(std::uint64_t from, std::uint64_t to) const {
        const auto begin = place(from);
        const auto stop = place(to);
        return begin < stop ? Window{bytes + begin, stop - begin, from} : Window{bytes, 0, from};
    }

private:
    std::size_t place(std::uint64_t at) const {
        const auto offset = at > base ? at - base : 0;
        return offset < length ? static_cast<std::size_t>(offset) : length;
    }
};

// A header that was read.
struct Found {
    Header header;
    std::uint16_t length = 0;  // zero where the framing has no length
    std::uint16_t id = 0;
    const MessageInfo* info = nullptr;
    std::size_t total = 0;  // bytes of the whole frame
};

// What stands at a position.
struct Look {
    enum Kind {
        Noise,       // no frame begins within `length` bytes
        FalseStart,  // two bytes: the first start byte, and not the second
        Short,       // perhaps a frame; `length` bytes will tell more
        Claims,      // a header whose frame is not all there
        Whole,       // a header whose frame is all there
    };
    Kind kind = Noise;
    std::size_t length = 0;
    Found found{};
};

// Looks at the first position of a part, of which there is at least one.
inline Look examine(Framing framing, const Lookup& lookup, const Window& part) {
    const auto start = framing.start();
    if (framing.header != HeaderKind::None && part.bytes[0] != start[0]) {
        const auto* at = static_cast<const std::uint8_t*>(std::memchr(part.bytes, start[0], part.length));
        return {Look::Noise, at != nullptr ? static_cast<std::size_t>(at - part.bytes) : part.length, {}};
    }
    if (framing.header == HeaderKind::Basic) {
        if (part.length < 2) {
            return {Look::Short, 2, {}};
        }
        if (part.bytes[1] != start[1]) {
            return {part.bytes[1] == start[0] ? Look::Noise : Look::FalseStart, 1, {}};
        }
    }
    if (part.length < framing.header_length()) {
        return {Look::Short, framing.header_length(), {}};
    }
    Found found;
    const auto* bytes = part.bytes + framing.start_length();
    if (framing.has_sequence()) {
        found.header.sequence = *bytes++;
    }
    if (framing.has_system()) {
        found.header.system = *bytes++;
        found.header.component = *bytes++;
    }
    if (framing.length_bytes() == 1) {
        found.length = *bytes++;
    } else if (framing.length_bytes() == 2) {
        found.length = load_bits<std::uint16_t>(bytes);
        bytes += 2;
    }
    const unsigned package = framing.has_package() ? *bytes++ : 0u;
    found.id = static_cast<std::uint16_t>(package << 8 | *bytes);
    found.info = lookup.find(found.id);
    if (!framing.has_length() && found.info == nullptr) {
        return {Look::Noise, 1, {}};
    }
    found.total = framing.overhead() + (framing.has_length() ? found.length : found.info->max_size);
    return {part.length < found.total ? Look::Claims : Look::Whole, 0, found};
}

// Checksums of a whole frame.
struct Verdict {
    bool good = true;
    std::array<std::uint8_t, 2> expected{};
    std::array<std::uint8_t, 2> carried{};
};

inline Verdict verify(Framing framing, const Found& found, const std::uint8_t* frame) {
    if (!framing.has_length()) {
        return {};
    }
    const auto head = framing.start_length();
    const auto header = framing.header_length();
    Verdict verdict;
    verdict.carried = {frame[found.total - 2], frame[found.total - 1]};
    verdict.expected = checksum(frame + head, header - head, frame + header, found.total - header - 2, found.info);
    verdict.good = verdict.expected == verdict.carried;
    return verdict;
}

}  // namespace detail

}  // namespace structframe

#endif
