// What a call comes to, and the bytes around a payload: header kinds, payload kinds, the five profiles. Part of structframe.hpp.
#ifndef STRUCTFRAME_FRAMING_HPP
#define STRUCTFRAME_FRAMING_HPP

#include <cstddef>
#include <cstdint>

#include "basic.hpp"

// For what must be inlined to be worth its while, and for what must not make its caller save more registers.
#if defined(__GNUC__)
#define STRUCTFRAME_INLINE inline __attribute__((always_inline))
#define STRUCTFRAME_OUTLINE __attribute__((noinline))
#else
#define STRUCTFRAME_INLINE inline
#define STRUCTFRAME_OUTLINE
#endif

// True where multi-byte numbers lie in memory as on the wire.
#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
#define STRUCTFRAME_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#elif defined(_M_IX86) || defined(_M_X64) || defined(_M_ARM) || defined(_M_ARM64)
#define STRUCTFRAME_LITTLE_ENDIAN 1
#else
#define STRUCTFRAME_LITTLE_ENDIAN 0
#endif

namespace structframe {

// What came of a call.
enum class Status {
    Ok,
    BufferTooShort,      // the output does not fit into the buffer
    Truncated,           // a payload ends within its base part
    CountExceedsBound,   // a received count of a variable message exceeds its bound
    UnknownTag,          // an unknown tag hides what follows it
    OtherMessage,        // the frame holds another message, or no good frame is there
    IdTooLarge,          // the framing carries ids up to 255 only
    PayloadTooLong,      // the length field has no room for this payload
    PayloadNotWhole,     // a framing without a length needs exactly MAX_SIZE bytes
    NotSent,             // the transport did not send
    Closed,              // the transport is closed
    Timeout,             // no response in time
};

// The stable name of a status, such as "buffer_too_short".
constexpr TextView name(Status status) {
    switch (status) {
    case Status::Ok: return "ok";
    case Status::BufferTooShort: return "buffer_too_short";
    case Status::Truncated: return "truncated";
    case Status::CountExceedsBound: return "count_exceeds_bound";
    case Status::UnknownTag: return "unknown_tag";
    case Status::OtherMessage: return "other_message";
    case Status::IdTooLarge: return "id_too_large";
    case Status::PayloadTooLong: return "payload_too_long";
    case Status::PayloadNotWhole: return "payload_not_whole";
    case Status::NotSent: return "not_sent";
    case Status::Closed: return "closed";
    case Status::Timeout: return "timeout";
    }
    return "?";
}

// Bytes written, or why not.
struct [[nodiscard]] Written {
    Status status = Status::Ok;
    std::size_t length = 0;
    explicit operator bool() const { return status == Status::Ok; }
};

// Which start bytes a frame has.
enum class HeaderKind : std::uint8_t {
    None,   // none
    Tiny,   // one: 0x70 + T
    Basic,  // two: 0x90 and 0x70 + T
};

// What follows the start bytes; the number is T.
enum class PayloadKind : std::uint8_t {
    Minimal = 0,                    // MSG, payload
    Default = 1,                    // LEN8, MSG, payload, checksum
    ExtendedMsgIds = 2,             // LEN8, PKG, MSG, payload, checksum
    ExtendedLength = 3,             // LEN16, MSG, payload, checksum
    Extended = 4,                   // LEN16, PKG, MSG, payload, checksum
    SysComp = 5,                    // SYS, COMP, LEN8, MSG, payload, checksum
    Seq = 6,                        // SEQ, LEN8, MSG, payload, checksum
    MultiSystemStream = 7,          // SEQ, SYS, COMP, LEN8, MSG, payload, checksum
    ExtendedMultiSystemStream = 8,  // SEQ, SYS, COMP, LEN16, PKG, MSG, payload, checksum
};

// Which of the two layouts a payload has: the framing decides.
enum class Layout {
    Wire,   // framings with a length (Standard, Bulk, Network): variable messages are trimmed
    Fixed,  // framings without a length (Sensor, Ipc): always MAX_SIZE bytes
};

// A header kind and a payload kind.
struct Framing {
    HeaderKind header;
    PayloadKind payload;

#ifdef STRUCTFRAME_ONLY_FRAMING
    constexpr PayloadKind kind() const { return PayloadKind::STRUCTFRAME_ONLY_FRAMING; }
    constexpr std::size_t start_length() const { return 2; }
#else
    constexpr PayloadKind kind() const { return payload; }
    constexpr std::size_t start_length() const { return static_cast<std::size_t>(header); }
#endif
    constexpr bool has_sequence() const { return number() >= 6; }
    constexpr bool has_system() const { return number() == 5 || number() >= 7; }
    constexpr bool has_package() const { return number() == 2 || number() == 4 || number() == 8; }
    constexpr bool has_length() const { return number() != 0; }
    constexpr std::size_t length_bytes() const {
        return number() == 0 ? 0 : number() == 3 || number() == 4 || number() == 8 ? 2 : 1;
    }
    constexpr Layout layout() const { return has_length() ? Layout::Wire : Layout::Fixed; }
    constexpr std::size_t max_payload() const { return length_bytes() == 1 ? 0xff : 0xffff; }
    constexpr std::size_t header_length() const {
        return start_length() + (has_sequence() ? 1 : 0) + (has_system() ? 2 : 0) + length_bytes() +
               (has_package() ? 1 : 0) + 1;
    }
    constexpr std::size_t trailer_length() const { return has_length() ? 2 : 0; }
    constexpr std::size_t overhead() const { return header_length() + trailer_length(); }
    constexpr Array<std::uint8_t, 2> start() const {
        const auto second = static_cast<std::uint8_t>(0x70u + number());
        return {start_length() == 2 ? std::uint8_t{0x90} : second, second};
    }
    friend constexpr bool operator==(Framing a, Framing b) { return a.header == b.header && a.payload == b.payload; }
    friend constexpr bool operator!=(Framing a, Framing b) { return !(a == b); }

private:
    constexpr unsigned number() const { return static_cast<unsigned>(kind()); }
};

// The five profiles.
inline constexpr Framing standard{HeaderKind::Basic, PayloadKind::Default};
inline constexpr Framing sensor{HeaderKind::Tiny, PayloadKind::Minimal};
inline constexpr Framing ipc{HeaderKind::None, PayloadKind::Minimal};
inline constexpr Framing bulk{HeaderKind::Basic, PayloadKind::Extended};
inline constexpr Framing network{HeaderKind::Basic, PayloadKind::ExtendedMultiSystemStream};

// More than any framing adds to a payload.
inline constexpr std::size_t max_overhead = 16;

}  // namespace structframe

#endif
