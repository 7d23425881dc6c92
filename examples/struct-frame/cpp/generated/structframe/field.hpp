// How values lie in the fixed layout. Part of structframe.hpp.
#ifndef STRUCTFRAME_FIELD_HPP
#define STRUCTFRAME_FIELD_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "message.hpp"
#include "values.hpp"

namespace structframe {

namespace detail {

template <class U>
STRUCTFRAME_INLINE void store_bits(std::uint8_t* out, U bits) {
#if STRUCTFRAME_LITTLE_ENDIAN
    std::memcpy(out, &bits, sizeof bits);
#else
    for (std::size_t i = 0; i < sizeof(U); i++) {
        out[i] = static_cast<std::uint8_t>(bits >> (8 * i));
    }
#endif
}

template <class U>
STRUCTFRAME_INLINE U load_bits(const std::uint8_t* in) {
    U bits = 0;
#if STRUCTFRAME_LITTLE_ENDIAN
    std::memcpy(&bits, in, sizeof bits);
#else
    for (std::size_t i = 0; i < sizeof(U); i++) {
        bits = static_cast<U>(bits | static_cast<U>(static_cast<U>(in[i]) << (8 * i)));
    }
#endif
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

// Bytes of a payload that has all that is asked for.
struct Whole {
    const std::uint8_t* data;

    std::uint8_t byte(std::size_t at) const { return data[at]; }
    void bytes(std::size_t at, void* out, std::size_t size) const {
        if (size > 0) {
            std::memcpy(out, data + at, size);
        }
    }
    template <class U>
    U bits(std::size_t at) const {
        return load_bits<U>(data + at);
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
    template <class V>
    static void load(T& value, const V& view, std::size_t at) { Codec<T>::load(value, view, at); }
};

template <>
struct Field<bool> {
    static constexpr std::size_t size = 1;
    static void store(bool value, std::uint8_t* out) { *out = value ? 1 : 0; }
    template <class V>
    static void load(bool& value, const V& view, std::size_t at) { value = view.byte(at) != 0; }
};

// A number, as the bits of an unsigned one.
template <class T, class Bits>
struct NumberField {
    static constexpr std::size_t size = sizeof(T);
    static constexpr bool is_number = true;
    static STRUCTFRAME_INLINE void store(T value, std::uint8_t* out) {
        Bits bits;
        std::memcpy(&bits, &value, sizeof bits);
        store_bits(out, bits);
    }
    template <class V>
    static STRUCTFRAME_INLINE void load(T& value, const V& view, std::size_t at) {
        const auto bits = view.template bits<Bits>(at);
        std::memcpy(&value, &bits, sizeof value);
    }
};

template <>
struct Field<std::uint8_t> : NumberField<std::uint8_t, std::uint8_t> {};
template <>
struct Field<std::int8_t> : NumberField<std::int8_t, std::uint8_t> {};
template <>
struct Field<std::uint16_t> : NumberField<std::uint16_t, std::uint16_t> {};
template <>
struct Field<std::int16_t> : NumberField<std::int16_t, std::uint16_t> {};
template <>
struct Field<std::uint32_t> : NumberField<std::uint32_t, std::uint32_t> {};
template <>
struct Field<std::int32_t> : NumberField<std::int32_t, std::uint32_t> {};
template <>
struct Field<std::uint64_t> : NumberField<std::uint64_t, std::uint64_t> {};
template <>
struct Field<std::int64_t> : NumberField<std::int64_t, std::uint64_t> {};
template <>
struct Field<float> : NumberField<float, std::uint32_t> {};
template <>
struct Field<double> : NumberField<double, std::uint64_t> {};

template <class T>
struct Field<T, When<__is_enum(T)>> {
    static constexpr std::size_t size = 1;
    static void store(T value, std::uint8_t* out) { *out = static_cast<std::uint8_t>(value); }
    template <class V>
    static void load(T& value, const V& view, std::size_t at) { value = static_cast<T>(view.byte(at)); }
};

template <class T, class = void>
inline constexpr bool is_number = false;
template <class T>
inline constexpr bool is_number<T, Exists<decltype(Field<T>::is_number)>> = true;

template <class T, std::size_t N>
struct Field<Array<T, N>> {
    static constexpr std::size_t size = N * Field<T>::size;
    // Numbers lie there as on the wire.
    static constexpr bool is_copied = STRUCTFRAME_LITTLE_ENDIAN && is_number<T>;
    static void store(const Array<T, N>& value, std::uint8_t* out) {
        if constexpr (is_copied && N > 0) {
            std::memcpy(out, value.data(), size);
            return;
        }
        for (std::size_t i = 0; i < N; i++) {
            Field<T>::store(value[i], out + i * Field<T>::size);
        }
    }
    template <class V>
    static void load(Array<T, N>& value, const V& view, std::size_t at) {
        if constexpr (is_copied) {
            view.bytes(at, value.data(), size);
            return;
        }
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
        if constexpr (Field<Array<T, N>>::is_copied) {
            if (value.size() > 0) {
                std::memcpy(out + prefix, value.data(), value.size() * unit);
            }
            return;
        }
        for (std::size_t i = 0; i < value.size(); i++) {
            Field<T>::store(value[i], out + prefix + i * unit);
        }
    }
    template <class V>
    static void load(Bounded<T, N>& value, const V& view, std::size_t at) {
        const auto count = least(view.count(at, prefix), N);
        value.clear();
        static_cast<void>(value.resize(count));
        if constexpr (Field<Array<T, N>>::is_copied) {
            view.bytes(at + prefix, value.data(), count * unit);
            return;
        }
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
    template <class V>
    static void load(Text<N>& value, const V& view, std::size_t at) {
        Array<char, N> bytes{};
        const auto count = least(view.count(at, prefix), N);
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
    template <class V>
    static void load(FixedText<N>& value, const V& view, std::size_t at) {
        Array<char, N> bytes{};
        view.bytes(at, bytes.data(), N);
        static_cast<void>(value.assign({bytes.data(), TextView(bytes.data(), N).find('\0')}));
    }
};

template <class T, class = void>
inline constexpr bool is_bounded = false;
template <class T>
inline constexpr bool is_bounded<T, Exists<decltype(Field<T>::bound)>> = true;

template <class T, class = void>
inline constexpr bool is_message = false;
template <class T>
inline constexpr bool is_message<T, Exists<decltype(Codec<T>::info)>> = true;

}  // namespace detail

}  // namespace structframe

#endif
