// structframe.hpp: frames, checksums, readers and values of struct-frame, in C++17, header-only. Only handlers of the client
// may use the heap.
//
// Shipped by `fw gen` beside the code it generates. Nothing here depends on a schema.
//
// Writing:  write(message, framing, header, out, capacity) encodes a message and puts a frame around it.
// Reading:  BufferReader reads a whole buffer, Stream chunks of any size down to one byte. Both run the same state machine
//           and tell the same events, however the bytes were split. A frame with a wrong checksum is reported and then
//           searched for good frames, so that a damaged length swallows nothing.
// Talking:  Client dispatches received messages to subscribers and sends requests that wait for their response, over a
//           transport that you supply.
//
// Messages are plain structs. What is known about their layout is in Codec<Message>, so that no field name can meet it.
// All functions accept any bytes from the other side.
#ifndef STRUCTFRAME_HPP
#define STRUCTFRAME_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace structframe {

// ---- Outcomes -----------------------------------------------------------------------------------------------------

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
constexpr std::string_view name(Status status) {
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

// ---- Framings -----------------------------------------------------------------------------------------------------

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

    constexpr bool has_sequence() const { return kind() >= 6; }
    constexpr bool has_system() const { return kind() == 5 || kind() >= 7; }
    constexpr bool has_package() const { return kind() == 2 || kind() == 4 || kind() == 8; }
    constexpr bool has_length() const { return kind() != 0; }
    constexpr std::size_t length_bytes() const {
        return kind() == 0 ? 0 : kind() == 3 || kind() == 4 || kind() == 8 ? 2 : 1;
    }
    constexpr Layout layout() const { return has_length() ? Layout::Wire : Layout::Fixed; }
    constexpr std::size_t max_payload() const { return length_bytes() == 1 ? 0xff : 0xffff; }
    constexpr std::size_t start_length() const { return static_cast<std::size_t>(header); }
    constexpr std::size_t header_length() const {
        return start_length() + (has_sequence() ? 1 : 0) + (has_system() ? 2 : 0) + length_bytes() +
               (has_package() ? 1 : 0) + 1;
    }
    constexpr std::size_t trailer_length() const { return has_length() ? 2 : 0; }
    constexpr std::size_t overhead() const { return header_length() + trailer_length(); }
    constexpr std::array<std::uint8_t, 2> start() const {
        const auto second = static_cast<std::uint8_t>(0x70u + kind());
        return {header == HeaderKind::Basic ? std::uint8_t{0x90} : second, second};
    }
    friend constexpr bool operator==(Framing a, Framing b) { return a.header == b.header && a.payload == b.payload; }
    friend constexpr bool operator!=(Framing a, Framing b) { return !(a == b); }

private:
    constexpr unsigned kind() const { return static_cast<unsigned>(payload); }
};

// The five profiles.
inline constexpr Framing standard{HeaderKind::Basic, PayloadKind::Default};
inline constexpr Framing sensor{HeaderKind::Tiny, PayloadKind::Minimal};
inline constexpr Framing ipc{HeaderKind::None, PayloadKind::Minimal};
inline constexpr Framing bulk{HeaderKind::Basic, PayloadKind::Extended};
inline constexpr Framing network{HeaderKind::Basic, PayloadKind::ExtendedMultiSystemStream};

// More than any framing adds to a payload.
inline constexpr std::size_t max_overhead = 16;

// ---- Messages -----------------------------------------------------------------------------------------------------

// What readers need to know about a message.
struct MessageInfo {
    std::uint16_t id = 0;  // effective id: package id in the high byte
    std::uint16_t max_size = 0;
    std::uint16_t base_size = 0;
    std::uint16_t min_size = 0;
    std::array<std::uint8_t, 2> magic{};  // seeds of the checksum
    std::string_view name;                // "package.Message"
};

// The messages of one generated package, by ascending id.
struct Package {
    std::string_view name;
    const MessageInfo* messages = nullptr;
    std::size_t count = 0;

    const MessageInfo* find(std::uint16_t id) const {
        const auto* end = messages + count;
        const auto* at = std::lower_bound(messages, end, id, [](const MessageInfo& a, std::uint16_t b) { return a.id < b; });
        return at != end && at->id == id ? at : nullptr;
    }
};

// Several packages; when two know an id, the earlier one wins. Refers to them: they must outlive it.
struct Lookup {
    const Package* const* packages = nullptr;
    std::size_t count = 0;

    const MessageInfo* find(std::uint16_t id) const {
        for (std::size_t i = 0; i < count; i++) {
            if (const auto* info = packages[i]->find(id)) {
                return info;
            }
        }
        return nullptr;
    }
};

// A lookup over packages that were generated apart: `Merged lookup{&a::package, &b::package};`.
template <std::size_t N>
struct Merged {
    std::array<const Package*, N> packages;

    template <class... P>
    constexpr explicit Merged(const P*... of) : packages{of...} {}
    operator Lookup() const { return {packages.data(), N}; }
};
template <class... P>
Merged(const P*...) -> Merged<sizeof...(P)>;

// What is known about a message type; specialised by generated code.
template <class Message>
struct Codec;

// What a frame says besides its payload; zero where its framing has no such field.
struct Header {
    std::uint8_t sequence = 0;
    std::uint8_t system = 0;
    std::uint8_t component = 0;
};

// ---- Values -------------------------------------------------------------------------------------------------------

// Up to N elements in place.
template <class T, std::size_t N>
class Bounded {
public:
    using value_type = T;
    constexpr Bounded() = default;
    // At most N elements: checked when the list is known while compiling, otherwise the rest is refused by `assign`.
    template <class... U, class = std::enable_if_t<(sizeof...(U) > 0) && (std::is_convertible_v<U, T> && ...)>>
    constexpr Bounded(U... values) : items_{static_cast<T>(std::move(values))...}, count_(sizeof...(U)) {
        static_assert(sizeof...(U) <= N, "more elements than the bound");
    }

    static constexpr std::size_t capacity() { return N; }
    constexpr std::size_t size() const { return count_; }
    constexpr bool empty() const { return count_ == 0; }
    constexpr T* data() { return items_.data(); }
    constexpr const T* data() const { return items_.data(); }
    constexpr T* begin() { return data(); }
    constexpr T* end() { return data() + count_; }
    constexpr const T* begin() const { return data(); }
    constexpr const T* end() const { return data() + count_; }
    constexpr T& operator[](std::size_t at) { return items_[at]; }
    constexpr const T& operator[](std::size_t at) const { return items_[at]; }
    constexpr void clear() { count_ = 0; }

    // Appends; false, and nothing changed, when it is full.
    [[nodiscard]] constexpr bool push_back(T value) {
        if (count_ == N) {
            return false;
        }
        items_[count_++] = std::move(value);
        return true;
    }

    // Takes over `count` elements; false, and nothing changed, when they are more than the bound.
    [[nodiscard]] constexpr bool assign(const T* values, std::size_t count) {
        if (count > N) {
            return false;
        }
        std::copy(values, values + count, items_.begin());
        count_ = count;
        return true;
    }

    // Changes the number of elements; new ones are default values. False, and nothing changed, beyond the bound.
    [[nodiscard]] constexpr bool resize(std::size_t count) {
        if (count > N) {
            return false;
        }
        for (std::size_t i = count_; i < count; i++) {
            items_[i] = T{};
        }
        count_ = count;
        return true;
    }

    friend constexpr bool operator==(const Bounded& a, const Bounded& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    friend constexpr bool operator!=(const Bounded& a, const Bounded& b) { return !(a == b); }

private:
    std::array<T, N> items_{};
    std::size_t count_ = 0;
};

namespace detail {

// Text of up to N bytes in place.
template <std::size_t N>
class AnyText {
public:
    constexpr AnyText() = default;
    template <std::size_t M>
    constexpr AnyText(const char (&text)[M]) : length_(M - 1) {
        static_assert(M - 1 <= N, "the text is longer than the field");
        for (std::size_t i = 0; i + 1 < M; i++) {
            bytes_[i] = text[i];
        }
    }

    static constexpr std::size_t capacity() { return N; }
    constexpr std::size_t size() const { return length_; }
    constexpr std::string_view view() const { return {bytes_.data(), length_}; }
    constexpr operator std::string_view() const { return view(); }
    friend constexpr bool operator==(const AnyText& a, const AnyText& b) { return a.view() == b.view(); }
    friend constexpr bool operator!=(const AnyText& a, const AnyText& b) { return !(a == b); }

protected:
    std::array<char, N> bytes_{};
    std::size_t length_ = 0;
};

}  // namespace detail

// Text with a length in front, up to N bytes of UTF-8.
template <std::size_t N>
class Text : public detail::AnyText<N> {
public:
    using detail::AnyText<N>::AnyText;

    // Takes over a text; false, and nothing changed, when it is too long.
    [[nodiscard]] constexpr bool assign(std::string_view text) {
        if (text.size() > N) {
            return false;
        }
        std::copy(text.begin(), text.end(), this->bytes_.begin());
        this->length_ = text.size();
        return true;
    }
};

// Text in N bytes, padded with zeros, so that it cannot contain one.
template <std::size_t N>
class FixedText : public detail::AnyText<N> {
public:
    using detail::AnyText<N>::AnyText;

    // Takes over a text; false, and nothing changed, when it is too long or contains a zero.
    [[nodiscard]] constexpr bool assign(std::string_view text) {
        if (text.size() > N || text.find('\0') != std::string_view::npos) {
            return false;
        }
        std::copy(text.begin(), text.end(), this->bytes_.begin());
        this->length_ = text.size();
        return true;
    }
};

// A union whose tag nobody here knows: the tag and what stands in its region.
template <std::size_t N>
struct Unknown {
    std::uint16_t tag = 0;
    std::array<std::uint8_t, N> region{};
    friend constexpr bool operator==(const Unknown& a, const Unknown& b) {
        return a.tag == b.tag && std::equal(a.region.begin(), a.region.end(), b.region.begin());
    }
    friend constexpr bool operator!=(const Unknown& a, const Unknown& b) { return !(a == b); }
};

// ---- Bytes of values ----------------------------------------------------------------------------------------------

namespace detail {

template <class U>
constexpr void store_bits(std::uint8_t* out, U bits) {
    for (std::size_t i = 0; i < sizeof(U); i++) {
        out[i] = static_cast<std::uint8_t>((bits >> (8 * i)) & 0xffu);
    }
}

template <class U>
constexpr U load_bits(const std::uint8_t* in) {
    U bits = 0;
    for (std::size_t i = 0; i < sizeof(U); i++) {
        bits = static_cast<U>(bits | static_cast<U>(static_cast<U>(in[i]) << (8 * i)));
    }
    return bits;
}

// Bytes of a payload; what lies behind them reads as the default image, and behind that as zero.
struct View {
    const std::uint8_t* data = nullptr;
    std::size_t length = 0;
    const std::uint8_t* fill = nullptr;
    std::size_t fill_length = 0;

    bool has(std::size_t at, std::size_t size) const { return size <= length && at <= length - size; }
    std::uint8_t byte(std::size_t at) const { return at < length ? data[at] : at < fill_length ? fill[at] : 0; }
    void bytes(std::size_t at, void* out, std::size_t size) const {
        auto* to = static_cast<std::uint8_t*>(out);
        if (size > 0 && has(at, size)) {
            std::memcpy(to, data + at, size);
            return;
        }
        for (std::size_t i = 0; i < size; i++) {
            to[i] = byte(at + i);
        }
    }
    template <class U>
    U bits(std::size_t at) const {
        std::uint8_t raw[sizeof(U)];
        if (has(at, sizeof(U))) {
            return load_bits<U>(data + at);
        }
        bytes(at, raw, sizeof(U));
        return load_bits<U>(raw);
    }
    std::size_t count(std::size_t at, std::size_t prefix) const {
        return prefix == 1 ? byte(at) : bits<std::uint16_t>(at);
    }
};

constexpr std::size_t prefix_of(std::size_t bound) { return bound > 255 ? 2 : 1; }

inline void store_count(std::uint8_t* out, std::size_t prefix, std::size_t count) {
    if (prefix == 1) {
        out[0] = static_cast<std::uint8_t>(count);
    } else {
        store_bits(out, static_cast<std::uint16_t>(count));
    }
}

// How a type lies in the fixed layout: `size` bytes, written into zeroed ones. Messages by their Codec.
template <class T, class = void>
struct Field {
    static constexpr std::size_t size = Codec<T>::info.max_size;
    static void store(const T& value, std::uint8_t* out) { Codec<T>::store(value, out); }
    static void load(T& value, const View& view, std::size_t at) { Codec<T>::load(value, view, at); }
};

template <>
struct Field<bool> {
    static constexpr std::size_t size = 1;
    static void store(bool value, std::uint8_t* out) { *out = value ? 1 : 0; }
    static void load(bool& value, const View& view, std::size_t at) { value = view.byte(at) != 0; }
};

template <class T>
struct Field<T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>> {
    static constexpr std::size_t size = sizeof(T);
    using Bits = std::conditional_t<
        sizeof(T) == 1, std::uint8_t,
        std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
    static void store(T value, std::uint8_t* out) {
        Bits bits;
        std::memcpy(&bits, &value, sizeof bits);
        store_bits(out, bits);
    }
    static void load(T& value, const View& view, std::size_t at) {
        const auto bits = view.bits<Bits>(at);
        std::memcpy(&value, &bits, sizeof value);
    }
};

template <class T>
struct Field<T, std::enable_if_t<std::is_enum_v<T>>> {
    static constexpr std::size_t size = 1;
    static void store(T value, std::uint8_t* out) { *out = static_cast<std::uint8_t>(value); }
    static void load(T& value, const View& view, std::size_t at) { value = static_cast<T>(view.byte(at)); }
};

template <class T, std::size_t N>
struct Field<std::array<T, N>> {
    static constexpr std::size_t size = N * Field<T>::size;
    static void store(const std::array<T, N>& value, std::uint8_t* out) {
        for (std::size_t i = 0; i < N; i++) {
            Field<T>::store(value[i], out + i * Field<T>::size);
        }
    }
    static void load(std::array<T, N>& value, const View& view, std::size_t at) {
        for (std::size_t i = 0; i < N; i++) {
            Field<T>::load(value[i], view, at + i * Field<T>::size);
        }
    }
};

// What has a count in front says how much of it is used.
template <class T, std::size_t N>
struct Field<Bounded<T, N>> {
    static constexpr std::size_t prefix = prefix_of(N);
    static constexpr std::size_t unit = Field<T>::size;
    static constexpr std::size_t bound = N;
    static constexpr std::size_t size = prefix + N * unit;
    static std::size_t count(const Bounded<T, N>& value) { return value.size(); }
    static void store(const Bounded<T, N>& value, std::uint8_t* out) {
        store_count(out, prefix, value.size());
        for (std::size_t i = 0; i < value.size(); i++) {
            Field<T>::store(value[i], out + prefix + i * unit);
        }
    }
    static void load(Bounded<T, N>& value, const View& view, std::size_t at) {
        const auto count = std::min(view.count(at, prefix), N);
        value.clear();
        static_cast<void>(value.resize(count));
        for (std::size_t i = 0; i < count; i++) {
            Field<T>::load(value[i], view, at + prefix + i * unit);
        }
    }
};

template <std::size_t N>
struct Field<Text<N>> {
    static constexpr std::size_t prefix = prefix_of(N);
    static constexpr std::size_t unit = 1;
    static constexpr std::size_t bound = N;
    static constexpr std::size_t size = prefix + N;
    static std::size_t count(const Text<N>& value) { return value.size(); }
    static void store(const Text<N>& value, std::uint8_t* out) {
        store_count(out, prefix, value.size());
        std::memcpy(out + prefix, value.view().data(), value.size());
    }
    static void load(Text<N>& value, const View& view, std::size_t at) {
        std::array<char, N> bytes{};
        const auto count = std::min(view.count(at, prefix), N);
        view.bytes(at + prefix, bytes.data(), count);
        static_cast<void>(value.assign({bytes.data(), count}));
    }
};

template <std::size_t N>
struct Field<FixedText<N>> {
    static constexpr std::size_t size = N;
    static void store(const FixedText<N>& value, std::uint8_t* out) {
        std::memcpy(out, value.view().data(), value.size());
    }
    static void load(FixedText<N>& value, const View& view, std::size_t at) {
        std::array<char, N> bytes{};
        view.bytes(at, bytes.data(), N);
        const std::string_view all{bytes.data(), N};
        static_cast<void>(value.assign(all.substr(0, std::min(all.find('\0'), N))));
    }
};

template <class T, class = void>
inline constexpr bool is_bounded = false;
template <class T>
inline constexpr bool is_bounded<T, std::void_t<decltype(Field<T>::bound)>> = true;

template <class T, class = void>
inline constexpr bool is_message = false;
template <class T>
inline constexpr bool is_message<T, std::void_t<decltype(Codec<T>::info)>> = true;

// How a union is written: bytes of its tag, of its region, of the region's base part, and of the shortest member.
template <class T, std::size_t Tag, std::size_t Region, std::size_t BaseRegion, std::size_t MinSize>
struct Shape {
    using Union = T;
    static constexpr std::size_t tag = Tag;
    static constexpr std::size_t region = Region;
    static constexpr std::size_t base_region = BaseRegion;
    static constexpr std::size_t min_size = MinSize;
    static constexpr std::size_t members = T::tags.size();

    static std::uint16_t tag_of(const T& value) {
        const auto index = value.value.index();
        if (index == 0) {
            return 0;
        }
        return index <= members ? T::tags[index - 1] : std::get<members + 1>(value.value).tag;
    }

    // Calls `visit` with the place of a member, from 1; false for other numbers.
    template <class F>
    static bool at(std::size_t index, F visit) {
        return at(index, visit, std::make_index_sequence<members>{});
    }

    // The place of the member with this tag, from 1; 0 when there is none.
    static std::size_t place(std::uint16_t tag_value) {
        const auto* found = std::find(T::tags.begin(), T::tags.end(), tag_value);
        return found == T::tags.end() ? 0 : static_cast<std::size_t>(found - T::tags.begin()) + 1;
    }

    static void store_tag(std::uint8_t* out, std::uint16_t value) { store_count(out, Tag, value); }

    // The member that is set, or an unknown one's bytes, into a zeroed region.
    static void store_region(const T& value, std::uint8_t* out) {
        const auto index = value.value.index();
        at(index, [&](auto place) {
            const auto& member = std::get<place.value>(value.value);
            Field<std::decay_t<decltype(member)>>::store(member, out);
        });
        if (const auto* unknown = std::get_if<members + 1>(&value.value)) {
            std::memcpy(out, unknown->region.data(), Region);
        }
    }

    // Bytes of the member that is set; of an unknown one up to its last byte that says something.
    static std::size_t held(const T& value) {
        std::size_t size = 0;
        at(value.value.index(), [&](auto place) { size = size_of<place.value>(); });
        if (const auto* unknown = std::get_if<members + 1>(&value.value)) {
            size = Region;
            while (size > 0 && unknown->region[size - 1] == 0) {
                size--;
            }
        }
        return size;
    }

    template <std::size_t Place>
    static constexpr std::size_t size_of() {
        return Field<std::variant_alternative_t<Place, decltype(T::value)>>::size;
    }

    // Bytes of the member at a place.
    static std::size_t size_at(std::size_t index) {
        std::size_t size = 0;
        at(index, [&](auto place) { size = size_of<place.value>(); });
        return size;
    }

    // Sets what the tag says from a view that begins with the region.
    static void load_region(T& value, std::uint16_t tag_value, const View& view, std::size_t begin) {
        const auto index = place(tag_value);
        if (index == 0 && tag_value != 0) {
            auto& unknown = value.value.template emplace<members + 1>();
            unknown.tag = tag_value;
            view.bytes(begin, unknown.region.data(), Region);
            return;
        }
        value.value.template emplace<0>();
        at(index, [&](auto place) {
            auto& member = value.value.template emplace<place.value>();
            Field<std::decay_t<decltype(member)>>::load(member, view, begin);
        });
    }

private:
    template <class F, std::size_t... I>
    static bool at(std::size_t index, F visit, std::index_sequence<I...>) {
        return ((index == I + 1 && (visit(std::integral_constant<std::size_t, I + 1>{}), true)) || ...);
    }
};

// A union without a tag: its bytes.
template <std::size_t N>
struct Region {
    std::array<std::uint8_t, N> bytes{};
    friend constexpr bool operator==(const Region& a, const Region& b) {
        return std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin());
    }
    friend constexpr bool operator!=(const Region& a, const Region& b) { return !(a == b); }
};

template <class T, std::size_t N>
T load_from(const Region<N>& region) {
    T value{};
    Field<T>::load(value, View{region.bytes.data(), N, nullptr, 0}, 0);
    return value;
}

template <class T, std::size_t N>
void store_into(Region<N>& region, const T& value) {
    region.bytes.fill(0);
    Field<T>::store(value, region.bytes.data());
}

// The fixed layout, written into zeroed bytes.
class Image {
public:
    explicit Image(std::uint8_t* out) : out_(out) {}
    template <std::size_t Size, class T>
    void put(std::size_t at, const T& value) {
        static_assert(Field<T>::size == Size, "generated code and runtime disagree");
        Field<T>::store(value, out_ + at);
    }
    template <class Shape>
    void put_union(std::size_t at, const typename Shape::Union& value) {
        Shape::store_tag(out_ + at, Shape::tag_of(value));
        Shape::store_region(value, out_ + at + Shape::tag);
    }
    template <std::size_t N>
    void put_region(std::size_t at, const Region<N>& value) {
        std::memcpy(out_ + at, value.bytes.data(), N);
    }

private:
    std::uint8_t* out_;
};

// The fixed layout, read from a view.
class ImageReader {
public:
    ImageReader(const View& view, std::size_t base) : view_(view), base_(base) {}
    template <class T>
    void get(std::size_t at, T& value) const {
        Field<T>::load(value, view_, base_ + at);
    }
    template <class Shape>
    void get_union(std::size_t at, typename Shape::Union& value) const {
        const auto tag = static_cast<std::uint16_t>(view_.count(base_ + at, Shape::tag));
        Shape::load_region(value, tag, view_, base_ + at + Shape::tag);
    }
    template <std::size_t N>
    void get_region(std::size_t at, Region<N>& value) const {
        view_.bytes(base_ + at, value.bytes.data(), N);
    }

private:
    const View& view_;
    std::size_t base_;
};

// The wire layout of a variable message, field after field. After a failure nothing more is written.
class Writer {
public:
    Writer(std::uint8_t* out, std::size_t capacity) : out_(out), capacity_(capacity) {}

    template <class T>
    void put(const T& value) {
        std::size_t size = Field<T>::size;
        if constexpr (is_bounded<T>) {
            size = Field<T>::prefix + Field<T>::count(value) * Field<T>::unit;
        }
        if (auto* place = take(size)) {
            Field<T>::store(value, place);
        }
    }
    template <class Shape>
    void put_trimmed(const typename Shape::Union& value) {
        put_member<Shape>(value, 0);
    }
    template <class Shape>
    void put_prefixed(const typename Shape::Union& value) {
        put_member<Shape>(value, 2);
    }
    template <class Shape>
    void put_full(const typename Shape::Union& value) {
        if (auto* place = take(Shape::tag + Shape::region)) {
            Image(place).put_union<Shape>(0, value);
        }
    }
    template <std::size_t N>
    void put_region(const Region<N>& value) {
        if (auto* place = take(N)) {
            std::memcpy(place, value.bytes.data(), N);
        }
    }
    Written written() const { return failed_ ? Written{Status::BufferTooShort, 0} : Written{Status::Ok, length_}; }

private:
    template <class Shape>
    void put_member(const typename Shape::Union& value, std::size_t prefix) {
        const auto held = Shape::held(value);
        const auto size = std::max(held, Shape::min_size);
        auto* place = take(Shape::tag + prefix + size);
        if (place == nullptr) {
            return;
        }
        Shape::store_tag(place, Shape::tag_of(value));
        if (prefix == 2) {
            store_bits(place + Shape::tag, static_cast<std::uint16_t>(size));
        }
        if (const auto* unknown = std::get_if<Shape::members + 1>(&value.value)) {
            std::memcpy(place + Shape::tag + prefix, unknown->region.data(), held);
        } else {
            Shape::store_region(value, place + Shape::tag + prefix);
        }
    }
    std::uint8_t* take(std::size_t size) {
        if (failed_ || out_ == nullptr || size > capacity_ - length_) {
            failed_ = true;
            return nullptr;
        }
        auto* place = out_ + length_;
        std::memset(place, 0, size);
        length_ += size;
        return place;
    }

    std::uint8_t* out_;
    std::size_t capacity_;
    std::size_t length_ = 0;
    bool failed_ = false;
};

// The wire layout of a variable message, field after field. After a failure nothing more is read.
class Reader {
public:
    explicit Reader(const View& view) : view_{view.data, view.length, nullptr, 0} {}

    template <class T>
    void take(T& value) {
        if (!take_extension(value) && status_ == Status::Ok) {
            status_ = Status::Truncated;
        }
    }
    // False when the field is not all there: it and everything after it keep their defaults.
    template <class T>
    bool take_extension(T& value) {
        if (status_ != Status::Ok) {
            return false;
        }
        std::size_t size = Field<T>::size;
        if constexpr (is_bounded<T>) {
            if (!view_.has(at_, Field<T>::prefix)) {
                return false;
            }
            const auto count = view_.count(at_, Field<T>::prefix);
            if (count > Field<T>::bound) {
                status_ = Status::CountExceedsBound;
                return false;
            }
            size = Field<T>::prefix + count * Field<T>::unit;
        }
        if (!view_.has(at_, size)) {
            return false;
        }
        Field<T>::load(value, view_, at_);
        at_ += size;
        return true;
    }
    // An unknown tag hides what follows: only the last union may have one.
    template <class Shape, bool Last>
    void take_trimmed(typename Shape::Union& value) {
        if (!need(Shape::tag)) {
            return;
        }
        const auto tag = static_cast<std::uint16_t>(view_.count(at_, Shape::tag));
        const auto place = Shape::place(tag);
        at_ += Shape::tag;
        if (place == 0 && tag != 0) {
            if (!Last) {
                status_ = Status::UnknownTag;
                return;
            }
            Shape::load_region(value, tag, view_, at_);
            at_ = view_.length;
            return;
        }
        const auto size = std::max(Shape::size_at(place), Shape::min_size);
        if (need(size)) {
            Shape::load_region(value, tag, view_, at_);
            at_ += size;
        }
    }
    template <class Shape>
    void take_prefixed(typename Shape::Union& value) {
        if (!need(Shape::tag + 2)) {
            return;
        }
        const auto tag = static_cast<std::uint16_t>(view_.count(at_, Shape::tag));
        const std::size_t length = view_.bits<std::uint16_t>(at_ + Shape::tag);
        at_ += Shape::tag + 2;
        if (!need(length)) {
            return;
        }
        const auto place = Shape::place(tag);
        View part{view_.data + at_, std::min(length, place != 0 ? Shape::size_at(place) : Shape::region), nullptr, 0};
        // A shorter member is completed with its defaults.
        Shape::at(place, [&](auto at) {
            using Member = std::variant_alternative_t<at.value, decltype(Shape::Union::value)>;
            if constexpr (is_message<Member>) {
                part.fill = Codec<Member>::defaults.data();
                part.fill_length = Codec<Member>::defaults.size();
            }
        });
        Shape::load_region(value, tag, part, 0);
        at_ += length;
    }
    template <class Shape>
    void take_full(typename Shape::Union& value) {
        // An older sender's region ends with its base.
        if (need(Shape::tag + Shape::base_region)) {
            ImageReader(view_, at_).get_union<Shape>(0, value);
            at_ = std::min(view_.length, at_ + Shape::tag + Shape::region);
        }
    }
    template <std::size_t BaseRegion, std::size_t N>
    void take_region(Region<N>& value) {
        if (need(BaseRegion)) {
            view_.bytes(at_, value.bytes.data(), N);
            at_ = std::min(view_.length, at_ + N);
        }
    }
    Status status() const { return status_; }

private:
    bool need(std::size_t size) {
        if (status_ == Status::Ok && !view_.has(at_, size)) {
            status_ = Status::Truncated;
        }
        return status_ == Status::Ok;
    }

    View view_;
    std::size_t at_ = 0;
    Status status_ = Status::Ok;
};

inline View view_of(const std::uint8_t* data, std::size_t length, const std::uint8_t* fill, std::size_t fill_length) {
    static constexpr std::uint8_t nothing = 0;
    return data != nullptr ? View{data, length, fill, fill_length} : View{&nothing, 0, fill, fill_length};
}

}  // namespace detail

// ---- Payloads -----------------------------------------------------------------------------------------------------

// Writes the payload; a buffer of max_size is always enough.
template <class Message>
Written encode(const Message& message, Layout layout, std::uint8_t* out, std::size_t capacity) {
    constexpr std::size_t size = Codec<Message>::info.max_size;
    if constexpr (Codec<Message>::is_variable) {
        if (layout == Layout::Wire) {
            detail::Writer writer(out, capacity);
            Codec<Message>::store_wire(message, writer);
            return writer.written();
        }
    } else {
        static_cast<void>(layout);
    }
    if constexpr (size > 0) {
        if (capacity < size) {
            return {Status::BufferTooShort, 0};
        }
        std::memset(out, 0, size);
    }
    Codec<Message>::store(message, out);
    return {Status::Ok, size};
}

// Reads a payload: missing bytes are defaults where the format says so, surplus ones are ignored, counts are bounded.
template <class Message>
[[nodiscard]] Status decode(Message& message, Layout layout, const std::uint8_t* payload, std::size_t length) {
    const auto& defaults = Codec<Message>::defaults;
    const auto view = detail::view_of(payload, length, defaults.data(), defaults.size());
    message = Message{};
    if constexpr (Codec<Message>::is_variable) {
        if (layout == Layout::Wire) {
            detail::Reader reader(view);
            Codec<Message>::load_wire(message, reader);
            return reader.status();
        }
    } else {
        static_cast<void>(layout);
    }
    Codec<Message>::load(message, view, 0);
    return Status::Ok;
}

// ---- Checksum -----------------------------------------------------------------------------------------------------

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

// ---- Writing ------------------------------------------------------------------------------------------------------

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

// ---- Reading ------------------------------------------------------------------------------------------------------

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

// ---- Client -------------------------------------------------------------------------------------------------------

// What a client needs from the outside.
struct Transport {
    virtual ~Transport() = default;
    // Sends all bytes; false when it cannot.
    virtual bool send(const std::uint8_t* data, std::size_t length) = 0;
    // Waits up to `timeout_ms` for bytes: their number, 0 when none came, negative when closed.
    virtual std::ptrdiff_t receive(std::uint8_t* data, std::size_t capacity, std::uint32_t timeout_ms) = 0;
    // A clock in milliseconds that may wrap around.
    virtual std::uint32_t now_ms() = 0;
};

// Sends and receives messages. Room: bytes for received frames (see Stream), for a frame to be sent, and subscriptions.
template <std::size_t In = 8192, std::size_t Out = 8192, std::size_t Subscriptions = 32>
class Client {
public:
    using Handler = std::function<void(const Event&)>;

    Client(Transport& transport, Framing framing, Lookup lookup)
        : transport_(transport), framing_(framing), stream_(framing, lookup) {}

    // Of the next frame; the sequence number is counted up.
    Header header;

    Framing framing() const { return framing_; }
    const Counters& counters() const { return stream_.counters(); }

    // Calls `handler` for every good frame with this id. The place, for `unsubscribe`; nothing when all are taken.
    std::optional<std::size_t> subscribe_id(std::uint16_t id, Handler handler) {
        for (std::size_t i = 0; i < Subscriptions; i++) {
            if (!subscriptions_[i].handler) {
                subscriptions_[i] = {id, std::move(handler)};
                return i;
            }
        }
        return std::nullopt;
    }

    // Calls `handler(const Message&)` for every message of this type that can be decoded.
    template <class Message, class F>
    std::optional<std::size_t> subscribe(F handler) {
        return subscribe_id(Codec<Message>::info.id, [this, handler](const Event& frame) {
            Message message;
            if (read(message, framing_, frame) == Status::Ok) {
                handler(message);
            }
        });
    }

    // Ends a subscription.
    void unsubscribe(std::size_t place) {
        if (place < Subscriptions) {
            subscriptions_[place].handler = nullptr;
        }
    }

    // Sends a message.
    template <class Message>
    [[nodiscard]] Status send(const Message& message) {
        const auto written = write(message, framing_, header, out_.data(), out_.size());
        if (!written) {
            return written.status;
        }
        if (!transport_.send(out_.data(), written.length)) {
            return Status::NotSent;
        }
        header.sequence = static_cast<std::uint8_t>(header.sequence + 1u);
        return Status::Ok;
    }

    // Receives once for up to `timeout_ms`, and dispatches. Status::Timeout when nothing came.
    Status poll(std::uint32_t timeout_ms) {
        std::array<std::uint8_t, 256> chunk;
        const auto received = transport_.receive(chunk.data(), chunk.size(), timeout_ms);
        if (received < 0) {
            return Status::Closed;
        }
        if (received == 0) {
            return Status::Timeout;
        }
        const auto length = std::min(static_cast<std::size_t>(received), chunk.size());
        stream_.feed(chunk.data(), length, [this](const Event& event) { dispatch(event); });
        return Status::Ok;
    }

    // Sends a message and waits until a response comes for which `accept(const Response&)` is true. Subscribers are served
    // meanwhile. One request at a time: a handler must not start another.
    template <class Response, class Request, class Accept>
    [[nodiscard]] Status request(const Request& message, Response& response, std::uint32_t timeout_ms, Accept accept) {
        bool done = false;
        const auto begin = transport_.now_ms();
        if (const auto status = send(message); status != Status::Ok) {
            return status;
        }
        pending_ = [&](const Event& frame) {
            Response candidate;
            // A message that cannot be decoded is no response; the request goes on waiting.
            if (!done && read(candidate, framing_, frame) == Status::Ok && accept(std::as_const(candidate))) {
                response = candidate;
                done = true;
            }
        };
        auto status = Status::Ok;
        while (!done && status != Status::Closed) {
            const auto passed = transport_.now_ms() - begin;
            if (passed >= timeout_ms) {
                status = Status::Timeout;
                break;
            }
            status = poll(timeout_ms - passed);
        }
        pending_ = nullptr;
        return done ? Status::Ok : status;
    }
    template <class Response, class Request>
    [[nodiscard]] Status request(const Request& message, Response& response, std::uint32_t timeout_ms) {
        return request(message, response, timeout_ms, [](const Response&) { return true; });
    }

private:
    struct Subscription {
        std::uint16_t id = 0;
        Handler handler;
    };

    void dispatch(const Event& event) {
        if (event.kind != EventKind::Frame) {
            return;
        }
        if (pending_) {
            pending_(event);
        }
        for (auto& subscription : subscriptions_) {
            if (subscription.handler && subscription.id == event.id) {
                // A handler may end its own subscription: a copy is called.
                const auto handler = subscription.handler;
                handler(event);
            }
        }
    }

    Transport& transport_;
    Framing framing_;
    Stream<In> stream_;
    std::array<std::uint8_t, Out> out_{};
    std::array<Subscription, Subscriptions> subscriptions_{};
    Handler pending_;
};

}  // namespace structframe

#endif
