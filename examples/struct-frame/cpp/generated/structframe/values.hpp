// What messages are made of besides numbers and enums: bounded arrays, text, unions of unknown tag. Part of structframe.hpp.
#ifndef STRUCTFRAME_VALUES_HPP
#define STRUCTFRAME_VALUES_HPP

#include <cstddef>
#include <cstdint>

#include "framing.hpp"

namespace structframe {

// A value, or nothing. Like std::optional, but that a place for a value costs nothing before there is one.
template <class T>
class Optional {
    static_assert(__is_trivially_copyable(T), "kept as bytes");

public:
    Optional() : none_() {}
    Optional(const T& value) : value_(value), has_value_(true) {}
    // Fills the place by `fill(T&)`, which says whether there is a value.
    template <class Fill>
    static STRUCTFRAME_INLINE Optional filled(Fill&& fill) {
        Optional out;
        out.has_value_ = fill(out.value_);
        return out;
    }

    bool has_value() const { return has_value_; }
    explicit operator bool() const { return has_value_; }
    const T& operator*() const { return value_; }
    T& operator*() { return value_; }
    const T* operator->() const { return &value_; }
    T* operator->() { return &value_; }
    friend bool operator==(const Optional& a, const T& b) { return a.has_value_ && a.value_ == b; }
    friend bool operator!=(const Optional& a, const T& b) { return !(a == b); }

private:
    union {
        unsigned char none_;
        T value_;
    };
    bool has_value_ = false;
};

// Up to N elements in place.
template <class T, std::size_t N>
class Bounded {
public:
    using value_type = T;
    constexpr Bounded() = default;
    // At most N elements: checked when the list is known while compiling, otherwise the rest is refused by `assign`.
    template <class... U, class = detail::When<(sizeof...(U) > 0)>, class = detail::Exists<decltype(detail::accepts<T>(detail::some<U>()))...>>
    constexpr Bounded(U... values) : items_{static_cast<T>(values)...}, count_(sizeof...(U)) {
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
        items_[count_++] = value;
        return true;
    }

    // Takes over `count` elements; false, and nothing changed, when they are more than the bound.
    [[nodiscard]] constexpr bool assign(const T* values, std::size_t count) {
        if (count > N) {
            return false;
        }
        detail::copy(values, items_.data(), count);
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
        return a.size() == b.size() && detail::same(a.data(), b.data(), a.size());
    }
    friend constexpr bool operator!=(const Bounded& a, const Bounded& b) { return !(a == b); }

private:
    Array<T, N> items_{};
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
    constexpr TextView view() const { return {bytes_.data(), length_}; }
    constexpr operator TextView() const { return view(); }
    template <class S, class = When<holds_text<S>>>
    constexpr operator S() const {
        return S(bytes_.data(), length_);
    }
    friend constexpr bool operator==(const AnyText& a, const AnyText& b) { return a.view() == b.view(); }
    friend constexpr bool operator!=(const AnyText& a, const AnyText& b) { return !(a == b); }

protected:
    Array<char, N> bytes_{};
    std::size_t length_ = 0;
};

}  // namespace detail

// Text with a length in front, up to N bytes of UTF-8.
template <std::size_t N>
class Text : public detail::AnyText<N> {
public:
    using detail::AnyText<N>::AnyText;

    // Takes over a text; false, and nothing changed, when it is too long.
    [[nodiscard]] constexpr bool assign(TextView text) {
        if (text.size() > N) {
            return false;
        }
        detail::copy(text.data(), this->bytes_.data(), text.size());
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
    [[nodiscard]] constexpr bool assign(TextView text) {
        if (text.size() > N || text.find('\0') != text.size()) {
            return false;
        }
        detail::copy(text.data(), this->bytes_.data(), text.size());
        this->length_ = text.size();
        return true;
    }
};

// A union whose tag nobody here knows: the tag and what stands in its region.
template <std::size_t N>
struct Unknown {
    std::uint16_t tag = 0;
    Array<std::uint8_t, N> region{};
    friend constexpr bool operator==(const Unknown& a, const Unknown& b) {
        return a.tag == b.tag && detail::same(a.region.data(), b.region.data(), N);
    }
    friend constexpr bool operator!=(const Unknown& a, const Unknown& b) { return !(a == b); }
};

}  // namespace structframe

#endif
