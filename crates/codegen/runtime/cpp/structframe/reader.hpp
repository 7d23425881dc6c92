// Reading frames: a whole buffer, or chunks of any size. Part of structframe.hpp.
#ifndef STRUCTFRAME_READER_HPP
#define STRUCTFRAME_READER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "machine.hpp"

namespace structframe {

// Reads a whole buffer, which must outlive the reader.
class BufferReader {
public:
    BufferReader(Framing framing, Lookup lookup, const std::uint8_t* data, std::size_t length)
        : machine_(framing, lookup, SIZE_MAX), data_(data), length_(data != nullptr ? length : 0) {}

    // The next event, at last with what is left over; nothing at the end.
    Optional<Event> next() {
        return Optional<Event>::filled([this](Event& event) { return next(event); });
    }

    // The next good frame; other events are only counted.
    Optional<Event> next_frame() {
        return Optional<Event>::filled([this](Event& event) {
            while (next(event)) {
                if (event.kind == EventKind::Frame) {
                    return true;
                }
            }
            return false;
        });
    }

    const Counters& counters() const { return machine_.counters; }

private:
    bool next(Event& event) { return machine_.next(data_, length_, detail::Machine::More::Never, event); }

    detail::Machine machine_;
    const std::uint8_t* data_;
    std::size_t length_;
};

// One frame that begins with the first byte, when there is a good one.
inline Optional<Event> parse(Framing framing, Lookup lookup, const std::uint8_t* data, std::size_t length) {
    const auto event = BufferReader(framing, lookup, data, length).next();
    const bool here = event && event->kind == EventKind::Frame && event->start == 0;
    return here ? event : Optional<Event>();
}

// Reads chunks of any size, with a buffer of N bytes in place. A frame longer than the buffer is passed over as if its start
// bytes were noise; to find every good frame behind a damaged length, it should have room for two of the longest frames.
template <std::size_t N>
class Stream {
public:
    Stream(Framing framing, Lookup lookup) : machine_(framing, lookup, N) {}

    // Reads a chunk and calls `tell(const Event&)` for what it completed; `tell` must not feed this stream.
    template <class Tell>
    STRUCTFRAME_INLINE void feed(const std::uint8_t* chunk, std::size_t length, Tell&& tell) {
        if (length == 1 && filled_ + 1 < machine_.need()) {
            // Bytes that come one by one: most of them complete nothing.
            buffer_[filled_++] = *chunk;
        } else {
            // Assigned here, where the compiler sees it: a loop over bytes then keeps it in a register.
            filled_ = read(chunk, length, tell);
        }
    }

    // Ends the stream: tells what is left over. It can be used again; positions go on counting.
    template <class Tell>
    void finish(Tell&& tell) {
        tell_all(buffer_.data(), filled_, detail::Machine::More::Never, tell);
        reset();
    }

    // Forgets an incomplete frame and the last sequence number.
    void reset() {
        machine_.reset(filled_);
        filled_ = 0;
    }

    // Bytes of the incomplete frame that is waited for.
    std::size_t partial() const { return machine_.partial(buffer_.data(), filled_); }

    const Counters& counters() const { return machine_.counters; }
    void reset_counters() { machine_.counters = {}; }

private:
    template <class Tell>
    STRUCTFRAME_OUTLINE void tell_all(const std::uint8_t* bytes, std::size_t length, detail::Machine::More more, Tell& tell) {
        Event event;
        while (machine_.next(bytes, length, more, event)) {
            tell(static_cast<const Event&>(event));
        }
    }

    // Reads a chunk that may complete something; how many bytes are held then.
    template <class Tell>
    STRUCTFRAME_OUTLINE std::size_t read(const std::uint8_t* chunk, std::size_t length, Tell& tell) {
#ifndef __OPTIMIZE_SIZE__
        if (length == 1 && machine_.header_arrives(buffer_.data(), filled_, *chunk)) {
            buffer_[filled_] = *chunk;
            return filled_ + 1;
        }
#endif
        if (N < machine_.framing().header_length()) {
            // Not even a header has room: all is noise, and nothing is ever waited for.
            machine_.pass_over(length);
            tell_all(chunk, 0, detail::Machine::More::May, tell);
            machine_.need_nothing();
            return filled_;
        }
        while (length > 0) {
            const auto* bytes = chunk;
            auto left = length;
            if (filled_ > 0) {
                // What is missing of what is waited for; that it fits into the buffer, the machine has seen to.
                left = machine_.need() - filled_;
                left = left < length ? left : length;
                std::memcpy(buffer_.data() + filled_, chunk, left);
                chunk += left;
                length -= left;
                filled_ = left += filled_;
                if (left < machine_.need()) {
                    return left;
                }
                bytes = buffer_.data();
            } else {
                length = 0;
            }
            tell_all(bytes, left, detail::Machine::More::May, tell);
            const auto gone = machine_.retain_from();
            left -= gone;
            if (left > 0) {
                std::memmove(buffer_.data(), bytes + gone, left);
            }
            filled_ = left;
            machine_.advance(gone);
        }
        return filled_;
    }

    detail::Machine machine_;
    Array<std::uint8_t, N> buffer_{};
    std::size_t filled_ = 0;
};

}  // namespace structframe

#endif
