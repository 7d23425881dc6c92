// The state machine of the readers. Part of structframe.hpp.
#ifndef STRUCTFRAME_MACHINE_HPP
#define STRUCTFRAME_MACHINE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "event.hpp"

namespace structframe {

namespace detail {

// The one state machine behind both readers.
//
// All positions are absolute. The primary search stands at `position` and decides about one position after the other. When
// a complete frame fails there, it is reported, the primary goes on behind it, and its inside is searched for good frames
// of known messages. A candidate in there that reaches beyond the failed frame cannot be judged yet; nothing waits for it.
// Its place stays open, and it is judged when the primary next completes a frame, or at the end of the input: the earlier
// start wins.
//
// Every decision depends on bytes up to a position that the bytes themselves determine, never on how many more happen to
// be there. That is why every way of splitting the input gives the same events.
class Machine {
public:
    enum class More { May, Never };

    Machine(Framing framing, Lookup lookup, std::uint64_t capacity)
        : framing_(framing), lookup_(lookup), capacity_(capacity) {}

    // The next event; nothing when that takes more bytes than the window has.
    std::optional<Event> step(const Window& window, More more) {
        for (;;) {
            if (rescan_) {
                if (const auto found = search(window)) {
                    return recover(window, found->first, found->second);
                }
                rescan_.reset();
            }
            const auto part = window.part(position_, std::numeric_limits<std::uint64_t>::max());
            Look look;
            if (part.length == 0) {
                look = {Look::Short, 1, {}};
            } else if (capacity_ < framing_.header_length()) {
                look = {Look::Noise, part.length, {}};
            } else {
                look = examine(framing_, lookup_, part);
            }
            if (look.kind == Look::Noise) {
                position_ += look.length;
                continue;
            }
            if (look.kind == Look::FalseStart) {
                false_start(2);
                continue;
            }
            const auto& found = look.found;
            if (look.kind != Look::Short) {
                if (found.total > capacity_) {
                    // A frame that the reader could never hold.
                    oversized_end_ = std::max(oversized_end_, position_ + found.total);
                    false_start(1);
                    continue;
                }
                if (found.info == nullptr && position_ < oversized_end_) {
                    // Inside such a frame zeros in its payload must not pass for a frame of an unknown message.
                    false_start(1);
                    continue;
                }
                compare_length(found);
            }
            const auto total = look.kind == Look::Short ? look.length : found.total;
            forget_far_candidates(total);
            if (look.kind == Look::Whole) {
                if (auto event = whole(window, found)) {
                    return event;
                }
                continue;
            }
            need_ = position_ + total;
            auto event = wait(window, more);
            if (event || !rescan_) {
                return event;
            }
        }
    }

    // Forgets what has not become an event yet, and the last sequence number; goes on at `at`.
    void reset(std::uint64_t at) {
        position_ = run_ = oversized_end_ = at;
        false_bytes_ = 0;
        need_ = at + 1;
        open_.reset();
        rescan_.reset();
        compared_.reset();
        sequence_.reset();
    }

    // The first byte that is still needed.
    std::uint64_t retain_from() const { return open_ ? std::min(open_->start, position_) : position_; }
    // Nothing can be decided before the window reaches this position.
    std::uint64_t need() const { return need_; }
    std::uint64_t position() const { return position_; }

    Counters counters;

private:
    struct Span {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
    };
    // A search for complete good frames that begin in `starts` and end by `end`.
    struct Rescan {
        Span starts;
        std::uint64_t end = 0;
        bool remember = false;
    };

    static void count(std::uint32_t& counter, std::uint64_t more) {
        const auto room = std::numeric_limits<std::uint32_t>::max() - counter;
        counter += static_cast<std::uint32_t>(std::min<std::uint64_t>(more, room));
    }

    static Event event(EventKind kind, std::uint64_t start, std::uint64_t end) {
        Event event;
        event.kind = kind;
        event.start = start;
        event.end = end;
        return event;
    }

    // The next good frame inside failed bytes. Only messages that are known count: with an unknown id, six bytes such as
    // 90 71 00 00 00 00 would pass.
    std::optional<std::pair<std::uint64_t, Found>> search(const Window& window) {
        auto& starts = rescan_->starts;
        while (starts.start < starts.end) {
            const auto at = starts.start;
            const auto part = window.part(at, rescan_->end);
            if (part.length == 0) {
                break;
            }
            const auto look = examine(framing_, lookup_, part);
            std::uint64_t advance = 1;
            bool unresolved = false;
            switch (look.kind) {
            case Look::Noise: advance = look.length; break;
            case Look::FalseStart: break;
            case Look::Short: unresolved = look.length <= capacity_; break;
            case Look::Claims: unresolved = look.found.info != nullptr && look.found.total <= capacity_; break;
            case Look::Whole:
                if (look.found.info != nullptr && look.found.total <= capacity_ &&
                    verify(framing_, look.found, part.bytes).good) {
                    starts.start = at + look.found.total;
                    // What began before it and reaches beyond would overlap it.
                    open_.reset();
                    return std::pair{at, look.found};
                }
                break;
            }
            if (unresolved && rescan_->remember && !open_) {
                open_ = Span{at, starts.end};
            }
            starts.start = at + advance;
        }
        return std::nullopt;
    }

    Event recover(const Window& window, std::uint64_t at, const Found& found) {
        const auto end = at + found.total;
        position_ = std::max(position_, end);
        if (end > run_) {
            run_ = end;
            false_bytes_ = 0;
        }
        count(counters.recovered, 1);
        return deliver(window, at, found, true);
    }

    Event deliver(const Window& window, std::uint64_t at, const Found& found, bool recovered) {
        auto told = event(EventKind::Frame, at, at + found.total);
        told.id = found.id;
        told.header = found.header;
        told.payload = window.part(at, told.end).bytes + framing_.header_length();
        told.payload_length = found.total - framing_.overhead();
        told.info = found.info;
        told.recovered = recovered;
        count(counters.frames, 1);
        count(counters.unknown_ids, found.info == nullptr ? 1 : 0);
        if (framing_.has_sequence()) {
            const bool gap = sequence_ && found.header.sequence != static_cast<std::uint8_t>(*sequence_ + 1u);
            count(counters.seq_gaps, gap ? 1 : 0);
            sequence_ = found.header.sequence;
        }
        return told;
    }

    // Decides about a complete frame; nothing when something else must be looked at first.
    std::optional<Event> whole(const Window& window, const Found& found) {
        const auto at = position_;
        const auto end = at + found.total;
        const auto verdict = verify(framing_, found, window.part(at, end).bytes);
        if (verdict.good && open_) {
            rescan_ = Rescan{*open_, end, false};
            open_.reset();
            return std::nullopt;
        }
        if (auto before = skipped()) {
            return before;
        }
        if (verdict.good) {
            position_ = run_ = end;
            return deliver(window, at, found, false);
        }
        count(counters.crc_failures, 1);
        count(counters.sync_recoveries, 1);
        count(counters.failed_bytes, found.total);
        fail({at, end}, true);
        auto told = event(EventKind::BadChecksum, at, end);
        told.id = found.id;
        told.header = found.header;
        told.payload_length = found.length;
        told.expected = verdict.expected;
        told.found = verdict.carried;
        return told;
    }

    // More bytes are needed: at the end of the input, what is left over.
    std::optional<Event> wait(const Window& window, More more) {
        if (more == More::May) {
            return std::nullopt;
        }
        if (auto before = skipped()) {
            return before;
        }
        if (position_ < window.end()) {
            const Span rest{position_, window.end()};
            count(counters.failed_bytes, rest.end - rest.start);
            fail(rest, false);
            return event(EventKind::Truncated, rest.start, rest.end);
        }
        if (open_) {
            rescan_ = Rescan{*open_, window.end(), false};
            open_.reset();
        }
        return std::nullopt;
    }

    // Goes on behind failed bytes, after a search inside them.
    void fail(Span span, bool remember) {
        const auto from = open_ ? open_->start : span.start + 1;
        open_.reset();
        // Without a checksum nothing found inside failed bytes could be trusted.
        if (framing_.has_length()) {
            rescan_ = Rescan{{from, span.end}, span.end, remember};
        }
        position_ = run_ = span.end;
    }

    void false_start(std::uint64_t length) {
        count(counters.sync_recoveries, 1);
        count(counters.failed_bytes, length);
        false_bytes_ += length;
        position_ += length;
    }

    // The bytes since the last event, if any.
    std::optional<Event> skipped() {
        if (position_ <= run_) {
            return std::nullopt;
        }
        const auto length = position_ - run_;
        count(counters.noise_bytes, length > false_bytes_ ? length - false_bytes_ : 0);
        auto told = event(EventKind::Skipped, run_, position_);
        run_ = position_;
        false_bytes_ = 0;
        return told;
    }

    void compare_length(const Found& found) {
        if (!framing_.has_length() || compared_ == position_) {
            return;
        }
        compared_ = position_;
        const bool fits =
            found.info == nullptr || (found.length >= found.info->min_size && found.length <= found.info->max_size);
        count(counters.len_errors, fits ? 0 : 1);
    }

    // Keeps no more than the reader can hold together with the frame at the primary position.
    void forget_far_candidates(std::size_t total) {
        const auto end = position_ + std::max(total, framing_.header_length());
        const auto first = end > capacity_ ? end - capacity_ : 0;
        if (open_) {
            open_->start = std::max(open_->start, first);
            if (open_->start >= open_->end) {
                open_.reset();
            }
        }
    }

    Framing framing_;
    Lookup lookup_;
    std::uint64_t capacity_;
    std::uint64_t position_ = 0;
    std::uint64_t run_ = 0;          // where the bytes begin that belong to no event yet
    std::uint64_t false_bytes_ = 0;  // how many of them were counted as false starts already
    std::uint64_t oversized_end_ = 0;
    std::uint64_t need_ = 1;
    std::optional<Span> open_;  // where candidates stand that reach beyond the failed frame they begin in
    std::optional<Rescan> rescan_;
    std::optional<std::uint64_t> compared_;
    std::optional<std::uint8_t> sequence_;
};

}  // namespace detail

}  // namespace structframe

#endif
