// The state machine of the readers. Part of structframe.hpp.
#ifndef STRUCTFRAME_MACHINE_HPP
#define STRUCTFRAME_MACHINE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "event.hpp"

namespace structframe {

namespace detail {

// The one state machine behind both readers.
//
// Positions are counted from the first byte at hand, which stands at `base` of the input. The primary search stands at
// `position` and decides about one position after the other. When a complete frame fails there, it is reported, the primary
// goes on after it, and its inside is searched for good frames of known messages. A candidate in there that reaches beyond
// the failed frame cannot be judged yet; nothing waits for it. Its place stays open, and it is judged when the primary next
// completes a frame, or at the end of the input: the earlier start wins.
//
// Every decision depends on bytes up to a position that the bytes themselves determine, never on how many more happen to
// be there. That is why every way of splitting the input gives the same events.
class Machine {
public:
    enum class More { May, Never };

    Machine(Framing framing, Lookup lookup, std::size_t capacity)
        : framing_(framing), lookup_(lookup), capacity_(capacity) {}

    // The next event; false when that takes more bytes than there are.
    STRUCTFRAME_INLINE bool next(const std::uint8_t* bytes, std::size_t length, More more, Event& event) {
#ifndef __OPTIMIZE_SIZE__
        if (framing_.start_length() == 2 && is_calm()) {
            auto row = Row::Ends;
            switch (framing_.kind()) {
            case PayloadKind::Default: row = next_in_row<PayloadKind::Default>(bytes, length, more, event); break;
            case PayloadKind::Extended: row = next_in_row<PayloadKind::Extended>(bytes, length, more, event); break;
            case PayloadKind::ExtendedMultiSystemStream:
                row = next_in_row<PayloadKind::ExtendedMultiSystemStream>(bytes, length, more, event);
                break;
            case PayloadKind::Minimal:
            case PayloadKind::ExtendedMsgIds:
            case PayloadKind::ExtendedLength:
            case PayloadKind::SysComp:
            case PayloadKind::Seq:
            case PayloadKind::MultiSystemStream: break;
            }
            if (row != Row::Ends) {
                return row == Row::Frame;
            }
        }
#endif
        return step(bytes, length, more, event);
    }

#ifndef __OPTIMIZE_SIZE__
    // True when this byte ends a header that announces the same message as the frame before: all that follows is to wait for
    // its frame.
    STRUCTFRAME_OUTLINE bool header_arrives(const std::uint8_t* frame, std::size_t filled, std::uint8_t byte) {
        if (last_ == nullptr || position_ != 0 || framing_.start_length() != 2 || !is_calm()) {
            return false;
        }
        switch (framing_.kind()) {
        case PayloadKind::Default: return announces<PayloadKind::Default>(frame, filled, byte);
        case PayloadKind::Extended: return announces<PayloadKind::Extended>(frame, filled, byte);
        case PayloadKind::ExtendedMultiSystemStream:
            return announces<PayloadKind::ExtendedMultiSystemStream>(frame, filled, byte);
        case PayloadKind::Minimal:
        case PayloadKind::ExtendedMsgIds:
        case PayloadKind::ExtendedLength:
        case PayloadKind::SysComp:
        case PayloadKind::Seq:
        case PayloadKind::MultiSystemStream: break;
        }
        return false;
    }
#endif

    // Bytes that begin nothing, when not even a header has room.
    void pass_over(std::size_t length) {
        base_ += length;
        noise_ += length;
    }

    // Forgets what has not become an event yet, and the last sequence number. `gone` bytes are no longer at hand.
    void reset(std::size_t gone) {
        base_ += gone;
        position_ = noise_ = false_bytes_ = oversized_end_ = 0;
        need_ = 1;
        compared_ = has_sequence_ = has_open_ = has_rescan_ = false;
    }

    // Bytes before the first one that is needed are gone.
    void advance(std::size_t gone) {
        base_ += gone;
        position_ -= gone;
        need_ -= gone;
        oversized_end_ = oversized_end_ > gone ? oversized_end_ - gone : 0;
        open_start_ -= gone;
        open_end_ -= gone;
    }

    // The first byte that is still needed.
    std::size_t retain_from() const { return has_open_ && open_start_ < position_ ? open_start_ : position_; }
    // Nothing can be decided before there are this many bytes.
    std::size_t need() const { return need_; }
    void need_nothing() { need_ = 0; }
    std::size_t position() const { return position_; }
    std::size_t capacity() const { return capacity_; }
    Framing framing() const { return framing_; }

    // Bytes of the incomplete frame that is waited for.
    std::size_t partial(const std::uint8_t* bytes, std::size_t length) const {
        auto at = position_;
        while (at < length) {
            const auto look = examine(framing_, lookup_, bytes + at, length - at);
            if (look.kind > Look::FalseStart) {
                return length - at;
            }
            at += look.kind == Look::Noise ? look.total : 2;
        }
        return 0;
    }

    Counters counters;

private:
#ifndef __OPTIMIZE_SIZE__
    enum class Row {
        Frame,  // a good frame
        Waits,  // more bytes are needed
        Ends,   // something else; nothing was decided
    };

    bool is_calm() const { return noise_ == 0 && !compared_ && !has_open_ && !has_rescan_; }

    template <PayloadKind Kind>
    STRUCTFRAME_INLINE bool announces(const std::uint8_t* frame, std::size_t filled, std::uint8_t byte) {
        constexpr Framing framing{HeaderKind::Basic, Kind};
        constexpr auto header = framing.header_length();
        constexpr auto package = framing.has_package() ? 1u : 0u;
        if (filled + 1 != header || frame[0] != framing.start()[0] || frame[1] != framing.start()[1]) {
            return false;
        }
        unsigned id = byte;
        std::size_t payload = frame[header - 2 - package];
        if constexpr (framing.length_bytes() > 1) {
            payload = payload << 8 | frame[header - 3 - package];
        }
        if constexpr (framing.has_package()) {
            id |= static_cast<unsigned>(frame[header - 2]) << 8;
        }
        const auto total = header + 2 + payload;
        if (id != last_->id || payload < last_->min_size || payload > last_->max_size || total > capacity_) {
            return false;
        }
        need_ = total;
        return true;
    }

    // The short path: a good frame of a known message, after another one. For framings with two start bytes and a length.
    template <PayloadKind Kind>
    STRUCTFRAME_INLINE Row next_in_row(const std::uint8_t* bytes, std::size_t length, More more, Event& event) {
        constexpr Framing framing{HeaderKind::Basic, Kind};
        constexpr auto header = framing.header_length();
        constexpr auto package = framing.has_package() ? 1u : 0u;
        constexpr auto fields = header - 2;
        const auto left = length - position_;
        const auto* const frame = bytes + position_;
        if (left < header) {
            need_ = position_ + header;
            return more == More::May ? Row::Waits : Row::Ends;
        }
        if (frame[0] != framing.start()[0] || frame[1] != framing.start()[1]) {
            return Row::Ends;
        }
        unsigned id = frame[header - 1];
        std::size_t payload = frame[header - 2 - package];
        if constexpr (framing.length_bytes() > 1) {
            payload = payload << 8 | frame[header - 3 - package];
        }
        if constexpr (framing.has_package()) {
            id |= static_cast<unsigned>(frame[header - 2]) << 8;
        }
        const auto* info = last_;
        if (info == nullptr || info->id != id) {
            info = lookup_.find(static_cast<std::uint16_t>(id));
            if (info == nullptr) {
                return Row::Ends;
            }
            last_ = info;
        }
        const auto total = header + 2 + payload;
        if (payload < info->min_size || payload > info->max_size || total > capacity_) {
            return Row::Ends;
        }
        if (total > left) {
            need_ = position_ + total;
            return more == More::May ? Row::Waits : Row::Ends;
        }
        if (checksum({}, frame + 2, fields + payload, fields + info->base_size, info->magic) !=
            load_bits<std::uint16_t>(frame + total - 2)) {
            return Row::Ends;
        }
        event.kind = EventKind::Frame;
        event.start = base_ + position_;
        event.end = event.start + total;
        event.id = static_cast<std::uint16_t>(id);
        event.header = read_header(framing, frame);
        event.payload_length = payload;
        event.payload = frame + header;
        event.info = info;
        event.recovered = false;
        event.expected = {};
        event.found = {};
        position_ += total;
        count(counters.frames, 1);
        if constexpr (framing.has_sequence()) {
            count_gap(event.header.sequence);
        }
        return Row::Frame;
    }
#endif

    static void count(std::uint32_t& counter, std::size_t more) {
        const auto room = UINT32_MAX - counter;
        counter = more > room ? UINT32_MAX : static_cast<std::uint32_t>(counter + more);
    }

    void count_gap(std::uint8_t sequence) {
        if (has_sequence_ && sequence != static_cast<std::uint8_t>(sequence_ + 1u)) {
            count(counters.seq_gaps, 1);
        }
        has_sequence_ = true;
        sequence_ = sequence;
    }

    static Header read_header(Framing framing, const std::uint8_t* frame) {
        Header header;
        const auto* field = frame + framing.start_length();
        if (framing.has_sequence()) {
            header.sequence = *field++;
        }
        if (framing.has_system()) {
            header.system = field[0];
            header.component = field[1];
        }
        return header;
    }

    void event_of(Event& event, EventKind kind, std::size_t end, std::size_t length) const {
        event.kind = kind;
        event.end = base_ + end;
        event.start = event.end - length;
        event.id = 0;
        event.header = {};
        event.payload_length = 0;
        event.payload = nullptr;
        event.info = nullptr;
        event.recovered = false;
        event.expected = {};
        event.found = {};
    }

    void deliver(const std::uint8_t* bytes, std::size_t at, const Look& found, bool recovered, Event& event) {
        event_of(event, EventKind::Frame, at + found.total, found.total);
        event.id = found.id;
        event.header = read_header(framing_, bytes + at);
        event.payload = bytes + at + framing_.header_length();
        event.payload_length = found.length;
        event.info = found.info;
        event.recovered = recovered;
        count(counters.frames, 1);
        if (found.info == nullptr) {
            count(counters.unknown_ids, 1);
        }
        if (framing_.has_sequence()) {
            count_gap(event.header.sequence);
        }
    }

#ifndef STRUCTFRAME_NO_SEARCH
    // The next good frame inside failed bytes. Only messages that are known count: with an unknown id, six bytes such as
    // 90 71 00 00 00 00 would pass.
    bool search(const std::uint8_t* bytes, std::size_t length, std::size_t& where, Look& found) {
        const auto end = rescan_end_ < length ? rescan_end_ : length;
        while (rescan_at_ < rescan_to_ && rescan_at_ < end) {
            const auto at = rescan_at_;
            std::size_t step = 1;
            bool unresolved = false;
            found = examine(framing_, lookup_, bytes + at, end - at);
            if (found.kind == Look::Noise) {
                step = found.total;
            } else if (found.kind != Look::FalseStart && found.total <= capacity_) {
                if (found.kind != Look::Whole) {
                    unresolved = found.kind == Look::Short || found.info != nullptr;
                } else if (found.info != nullptr &&
                           checksum_of(framing_, found, bytes + at) == carried(found, bytes + at)) {
                    rescan_at_ = at + found.total;
                    // What began before it and reaches beyond would overlap it.
                    has_open_ = false;
                    where = at;
                    return true;
                }
            }
            if (unresolved && rescan_remembers_ && !has_open_) {
                has_open_ = true;
                open_start_ = at;
                open_end_ = rescan_to_;
            }
            rescan_at_ = at + step;
        }
        return false;
    }

    void rescan(std::size_t from, std::size_t to, std::size_t end, bool remember) {
        has_rescan_ = true;
        rescan_at_ = from;
        rescan_to_ = to;
        rescan_end_ = end;
        rescan_remembers_ = remember;
    }

    // Judges the candidate that is still open, against bytes up to `end`.
    void rescan_open(std::size_t end) {
        has_open_ = false;
        rescan(open_start_, open_end_, end, false);
    }

    // Keeps no more than the reader can hold together with the frame at the primary position.
    void forget_far_candidates(std::size_t total) {
        const auto header = framing_.header_length();
        const auto end = position_ + (total > header ? total : header);
        if (end > capacity_) {
            if (open_start_ < end - capacity_) {
                open_start_ = end - capacity_;
            }
            has_open_ = open_start_ < open_end_;
        }
    }
#endif

    // The bytes since the last event, if any.
    bool skipped(Event& event) {
        if (noise_ == 0) {
            return false;
        }
        count(counters.noise_bytes, noise_ - false_bytes_);
        event_of(event, EventKind::Skipped, position_, noise_);
        noise_ = false_bytes_ = 0;
        return true;
    }

    // Goes on after failed bytes, once they have been searched.
    STRUCTFRAME_OUTLINE void fail(std::size_t end, bool remember) {
        count(counters.failed_bytes, end - position_);
#ifndef STRUCTFRAME_NO_SEARCH
        const auto from = has_open_ ? open_start_ : position_ + 1;
        has_open_ = false;
        // Without a checksum nothing found inside failed bytes could be trusted.
        if (framing_.has_length()) {
            rescan(from, end, end, remember);
        }
#else
        static_cast<void>(remember);
#endif
        position_ = end;
        compared_ = false;
    }

    STRUCTFRAME_OUTLINE bool step(const std::uint8_t* bytes, std::size_t length, More more, Event& event) {
        for (;;) {
            Look found;
#ifndef STRUCTFRAME_NO_SEARCH
            if (has_rescan_) {
                std::size_t at = 0;
                if (search(bytes, length, at, found)) {
                    recover(at + found.total);
                    deliver(bytes, at, found, true, event);
                    return true;
                }
                has_rescan_ = false;
            }
#endif
            if (sizeof(std::size_t) < 8 && noise_ > SIZE_MAX / 4) {
                // Before its length is more than a small machine can count.
                return skipped(event);
            }
            const auto left = length - position_;
            if (more == More::May && left < framing_.header_length()) {
                // No frame is shorter than a header: nothing is decided before there is one.
                found.kind = Look::Short;
                found.total = framing_.header_length();
            } else {
                found = examine(framing_, lookup_, bytes + position_, left);
            }
            const auto end = position_ + found.total;
            if (const auto over = passed_over(found, end)) {
                position_ += over;
                noise_ += over;
                compared_ = false;
                continue;
            }
#ifndef STRUCTFRAME_NO_SEARCH
            if (has_open_) {
                forget_far_candidates(found.total);
            }
#endif
            if (found.kind == Look::Whole) {
                const auto* const frame = bytes + position_;
                const bool summed = framing_.has_length();
                const auto expected = summed ? checksum_of(framing_, found, frame) : std::uint16_t{0};
                const bool good = !summed || expected == carried(found, frame);
#ifndef STRUCTFRAME_NO_SEARCH
                if (good && has_open_) {
                    rescan_open(end);
                    continue;
                }
#endif
                if (skipped(event)) {
                    return true;
                }
                if (good) {
                    const auto at = position_;
                    position_ = end;
                    compared_ = false;
                    deliver(bytes, at, found, false, event);
                    return true;
                }
                event_of(event, EventKind::BadChecksum, end, found.total);
                event.id = found.id;
                event.header = read_header(framing_, frame);
                event.payload_length = found.length;
                store_bits(event.expected.data(), expected);
                store_bits(event.found.data(), carried(found, frame));
                count(counters.crc_failures, 1);
                count(counters.sync_recoveries, 1);
                fail(end, true);
                return true;
            }
            need_ = end;
            if (more == More::May) {
                return false;
            }
            // The end of the input: what is left over.
            if (skipped(event)) {
                return true;
            }
            if (position_ < length) {
                event_of(event, EventKind::Truncated, length, length - position_);
                fail(length, false);
                return true;
            }
#ifndef STRUCTFRAME_NO_SEARCH
            if (has_open_) {
                rescan_open(length);
                continue;
            }
#endif
            return false;
        }
    }

#ifndef STRUCTFRAME_NO_SEARCH
    // A good frame was found inside failed bytes, up to `end`.
    void recover(std::size_t end) {
        if (end + noise_ > position_) {
            noise_ = end < position_ ? position_ - end : 0;
            false_bytes_ = 0;
        }
        if (end > position_) {
            position_ = end;
            compared_ = false;
        }
        count(counters.recovered, 1);
    }
#endif

    // How many bytes at the primary position begin no frame; 0 when one may begin there.
    std::size_t passed_over(const Look& found, std::size_t end) {
        std::size_t over = 0;
        switch (found.kind) {
        case Look::Noise: return found.total;
        case Look::Short: return 0;
        case Look::FalseStart: over = 2; break;
        case Look::Claims:
        case Look::Whole:
            if (found.total > capacity_) {
                // A frame that the reader could never hold.
                oversized_end_ = end > oversized_end_ ? end : oversized_end_;
                over = 1;
            } else if (found.info == nullptr) {
                // Inside such a frame zeros in its payload must not pass for a frame of an unknown message.
                over = position_ < oversized_end_ ? 1 : 0;
            } else if (framing_.has_length() && !compared_ &&
                       (found.length < found.info->min_size || found.length > found.info->max_size)) {
                compared_ = true;
                count(counters.len_errors, 1);
            }
            break;
        }
        if (over > 0) {
            count(counters.sync_recoveries, 1);
            count(counters.failed_bytes, over);
            false_bytes_ += over;
        }
        return over;
    }

    bool compared_ = false;
    bool has_sequence_ = false;
    bool has_open_ = false;    // a candidate reaches beyond the failed frame it begins in
    bool has_rescan_ = false;  // failed bytes are being searched
    bool rescan_remembers_ = false;
    std::uint8_t sequence_ = 0;
    Framing framing_;
    Lookup lookup_;
    const MessageInfo* last_ = nullptr;  // of the frame before, as frames often come in rows
    std::uint64_t base_ = 0;
    std::size_t position_ = 0;
    std::size_t capacity_;
    std::size_t need_ = 1;
    std::size_t noise_ = 0;  // bytes before `position` since the last event
    std::size_t oversized_end_ = 0;
    std::size_t false_bytes_ = 0;  // those bytes of the noise that looked like a start
    std::size_t open_start_ = 0;
    std::size_t open_end_ = 0;
    std::size_t rescan_at_ = 0;
    std::size_t rescan_to_ = 0;
    std::size_t rescan_end_ = 0;
};

}  // namespace detail

}  // namespace structframe

#endif
