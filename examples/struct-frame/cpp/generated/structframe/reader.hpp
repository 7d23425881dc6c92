// Reading frames: a whole buffer, or chunks of any size. Part of structframe.hpp.
#ifndef STRUCTFRAME_READER_HPP
#define STRUCTFRAME_READER_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "machine.hpp"

namespace structframe {

// Reads a whole buffer, which must outlive the reader.
class BufferReader {
public:
    BufferReader(Framing framing, Lookup lookup, const std::uint8_t* data, std::size_t length)
        : machine_(framing, lookup, std::numeric_limits<std::uint64_t>::max()),
          window_{data, data != nullptr ? length : 0, 0} {}

    // The next event, at last with what is left over; nothing at the end.
    std::optional<Event> next() { return machine_.step(window_, detail::Machine::More::Never); }

    // The next good frame; other events are only counted.
    std::optional<Event> next_frame() {
        auto event = next();
        while (event && event->kind != EventKind::Frame) {
            event = next();
        }
        return event;
    }

    const Counters& counters() const { return machine_.counters; }

private:
    detail::Machine machine_;
    detail::Window window_;
};

// One frame that begins with the first byte, when there is a good one.
inline std::optional<Event> parse(Framing framing, Lookup lookup, const std::uint8_t* data, std::size_t length) {
    auto event = BufferReader(framing, lookup, data, length).next();
    const bool here = event && event->kind == EventKind::Frame && event->start == 0;
    return here ? event : std::nullopt;
}

// Reads chunks of any size, with a buffer of N bytes in place. A frame longer than the buffer is passed over as if its start
// bytes were noise; to find every good frame behind a damaged length, it should have room for two of the longest frames.
template <std::size_t N>
class Stream {
public:
    Stream(Framing framing, Lookup lookup) : machine_(framing, lookup, N) {}

    // Reads a chunk and calls `tell(const Event&)` for what it completed; `tell` must not feed this stream.
    template <class Tell>
    void feed(const std::uint8_t* chunk, std::size_t length, Tell&& tell) {
        std::size_t used = 0;
        if (chunk == nullptr || length == 0) {
            return;
        }
        while (filled_ > 0) {
            const auto end = base_ + filled_;
            const auto missing = machine_.need() > end ? machine_.need() - end : 0;
            const auto taken = append(chunk + used, length - used, missing);
            used += taken;
            if (taken < missing) {
                if (used == length) {
                    return;
                }
                // The machine asks for no more than the buffer holds; should it ever, the reader goes on all the same.
                machine_.reset(base_ + filled_);
            }
            const auto window = buffered();
            tell_all(window, detail::Machine::More::May, tell);
            // As soon as nothing before this chunk is needed, the chunk itself is read.
            const auto kept = window.end() - machine_.retain_from();
            if (kept <= used) {
                filled_ = 0;
                base_ = machine_.retain_from();
                used -= static_cast<std::size_t>(kept);
            }
        }
        tell_all({chunk + used, length - used, base_}, detail::Machine::More::May, tell);
        const auto done = machine_.retain_from() - base_;
        base_ += done;
        used += static_cast<std::size_t>(std::min<std::uint64_t>(done, length - used));
        append(chunk + used, length - used, length - used);
    }

    // Ends the stream: tells what is left over. It can be used again; positions go on counting.
    template <class Tell>
    void finish(Tell&& tell) {
        tell_all(buffered(), detail::Machine::More::Never, tell);
        reset();
    }

    // Forgets an incomplete frame and the last sequence number.
    void reset() {
        base_ += filled_;
        filled_ = 0;
        machine_.reset(base_);
    }

    // Bytes of the incomplete frame that is waited for.
    std::size_t partial() const {
        const auto end = base_ + filled_;
        return end > machine_.position() ? static_cast<std::size_t>(end - machine_.position()) : 0;
    }

    const Counters& counters() const { return machine_.counters; }
    void reset_counters() { machine_.counters = {}; }

private:
    detail::Window buffered() const { return {buffer_.data(), filled_, base_}; }

    template <class Tell>
    void tell_all(const detail::Window& window, detail::Machine::More more, Tell& tell) {
        while (const auto event = machine_.step(window, more)) {
            tell(*event);
        }
    }

    // Moves up to `want` bytes from the chunk to the buffer.
    std::size_t append(const std::uint8_t* bytes, std::size_t length, std::uint64_t want) {
        auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(want, length));
        if (taken > N - filled_) {
            const auto unneeded = machine_.retain_from() - base_;
            const auto drop = static_cast<std::size_t>(std::min<std::uint64_t>(unneeded, filled_));
            std::memmove(buffer_.data(), buffer_.data() + drop, filled_ - drop);
            filled_ -= drop;
            base_ += drop;
            taken = std::min(taken, N - filled_);
        }
        if (taken > 0) {
            std::memcpy(buffer_.data() + filled_, bytes, taken);
            filled_ += taken;
        }
        return taken;
    }

    detail::Machine machine_;
    std::array<std::uint8_t, N> buffer_{};
    std::size_t filled_ = 0;
    std::uint64_t base_ = 0;
};

}  // namespace structframe

#endif
