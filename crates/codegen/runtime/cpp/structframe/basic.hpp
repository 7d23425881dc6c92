// Arrays, views of text and one of several types, in place of <array>, <string_view>, <variant> and <type_traits>, which take
// several times as long to compile as all of this. Part of structframe.hpp.
#ifndef STRUCTFRAME_BASIC_HPP
#define STRUCTFRAME_BASIC_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace structframe {

namespace detail {

// What <algorithm> has too.
template <class T>
constexpr const T& least(const T& a, const T& b) {
    return b < a ? b : a;
}

template <class T>
constexpr const T& most(const T& a, const T& b) {
    return a < b ? b : a;
}

template <class T>
constexpr bool same(const T* a, const T* b, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        if (!(a[i] == b[i])) {
            return false;
        }
    }
    return true;
}

template <class T>
constexpr void copy(const T* from, T* to, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

// What <type_traits> has too; what is not here, compilers have built in.
template <bool Holds>
struct Condition {};
template <>
struct Condition<true> {
    using Type = void;
};
template <bool Holds>
using When = typename Condition<Holds>::Type;

template <class...>
struct Void {
    using Type = void;
};
template <class... T>
using Exists = typename Void<T...>::Type;

// For `decltype`: a value of a type, and what takes values of a type.
template <class T>
T some();
template <class T>
int accepts(T);

// True of types that can be made of a pointer and a number of characters: std::string_view, std::string.
template <class S, class = void>
inline constexpr bool holds_text = false;
template <class S>
inline constexpr bool
    holds_text<S, Exists<typename S::traits_type, decltype(S(static_cast<const char*>(nullptr), std::size_t{0}))>> = true;

}  // namespace detail

// N elements in place, like std::array: `{1, 2, 3}`, `[i]`, `size()`, `data()`, `begin()`, `end()`, `fill(value)`, `==`.
template <class T, std::size_t N>
struct Array {
    using value_type = T;
    T items[N];

    static constexpr std::size_t size() { return N; }
    static constexpr bool empty() { return false; }
    constexpr T* data() { return items; }
    constexpr const T* data() const { return items; }
    constexpr T* begin() { return items; }
    constexpr T* end() { return items + N; }
    constexpr const T* begin() const { return items; }
    constexpr const T* end() const { return items + N; }
    constexpr T& operator[](std::size_t at) { return items[at]; }
    constexpr const T& operator[](std::size_t at) const { return items[at]; }
    constexpr void fill(const T& value) {
        for (auto& item : items) {
            item = value;
        }
    }
    friend constexpr bool operator==(const Array& a, const Array& b) { return detail::same(a.items, b.items, N); }
    friend constexpr bool operator!=(const Array& a, const Array& b) { return !(a == b); }
};

template <class T>
struct Array<T, 0> {
    using value_type = T;

    static constexpr std::size_t size() { return 0; }
    static constexpr bool empty() { return true; }
    constexpr T* data() { return nullptr; }
    constexpr const T* data() const { return nullptr; }
    constexpr T* begin() { return nullptr; }
    constexpr T* end() { return nullptr; }
    constexpr const T* begin() const { return nullptr; }
    constexpr const T* end() const { return nullptr; }
    constexpr void fill(const T&) {}
    friend constexpr bool operator==(const Array&, const Array&) { return true; }
    friend constexpr bool operator!=(const Array&, const Array&) { return false; }
};

// Text that lies elsewhere, like std::string_view, from and to which it converts by itself.
class TextView {
public:
    constexpr TextView() = default;
    constexpr TextView(const char* text, std::size_t length) : data_(text), size_(length) {}
    constexpr TextView(const char* text) : data_(text) {
        while (text[size_] != '\0') {
            size_++;
        }
    }
    template <class S, class = detail::When<detail::holds_text<S>>>
    constexpr TextView(const S& text) : data_(text.data()), size_(text.size()) {}
    template <class S, class = detail::When<detail::holds_text<S>>>
    constexpr operator S() const {
        return S(data_, size_);
    }

    constexpr const char* data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr const char* begin() const { return data_; }
    constexpr const char* end() const { return data_ + size_; }
    constexpr char operator[](std::size_t at) const { return data_[at]; }
    // Where a character stands first; `size()` when it is not there.
    constexpr std::size_t find(char wanted) const {
        std::size_t at = 0;
        while (at < size_ && data_[at] != wanted) {
            at++;
        }
        return at;
    }

    friend constexpr bool operator==(TextView a, TextView b) {
        return a.size_ == b.size_ && detail::same(a.data_, b.data_, a.size_);
    }
    friend constexpr bool operator!=(TextView a, TextView b) { return !(a == b); }
    template <class S, class = detail::When<detail::holds_text<S>>>
    friend constexpr bool operator==(TextView a, const S& b) {
        return a == TextView(b);
    }
    template <class S, class = detail::When<detail::holds_text<S>>>
    friend constexpr bool operator!=(TextView a, const S& b) {
        return !(a == TextView(b));
    }
    template <class S, class = detail::When<detail::holds_text<S>>>
    friend constexpr bool operator==(const S& a, TextView b) {
        return TextView(a) == b;
    }
    template <class S, class = detail::When<detail::holds_text<S>>>
    friend constexpr bool operator!=(const S& a, TextView b) {
        return !(TextView(a) == b);
    }
    // For std::ostream, which is not named here.
    template <class Out>
    friend auto operator<<(Out& out, TextView text) -> decltype(out.write("", 1)) {
        return out.write(text.data_, static_cast<std::ptrdiff_t>(text.size_));
    }

private:
    const char* data_ = "";
    std::size_t size_ = 0;
};

namespace detail {

// The type at a place.
template <std::size_t I, class First, class... Rest>
struct Nth : Nth<I - 1, Rest...> {};
template <class First, class... Rest>
struct Nth<0, First, Rest...> {
    using Type = First;
};

// A place, as a type.
template <std::size_t I>
struct Place {
    static constexpr std::size_t value = I;
};

}  // namespace detail

// Nothing, or a value of one of several types, like std::variant<std::monostate, M...>; `index()` is 0 for nothing.
template <class... M>
class OneOf {
    static_assert((__is_trivially_copyable(M) && ...), "kept as bytes");

public:
    template <std::size_t I>
    using Type = typename detail::Nth<I - 1, M...>::Type;

    std::size_t index() const { return index_; }

    // The value, when it is the one at this place; otherwise null.
    template <std::size_t I>
    const Type<I>* get() const {
        return index_ == I ? std::launder(reinterpret_cast<const Type<I>*>(place_)) : nullptr;
    }
    template <std::size_t I>
    Type<I>* get() {
        return index_ == I ? std::launder(reinterpret_cast<Type<I>*>(place_)) : nullptr;
    }

    // Makes it the one at this place, with its default values.
    template <std::size_t I>
    Type<I>& set() {
        index_ = static_cast<std::uint16_t>(I);
        return *new (place_) Type<I>{};
    }
    void clear() { index_ = 0; }

    friend bool operator==(const OneOf& a, const OneOf& b) {
        return a.index_ == b.index_ && equal<1>(a, b);
    }
    friend bool operator!=(const OneOf& a, const OneOf& b) { return !(a == b); }

private:
    template <std::size_t I>
    static bool equal(const OneOf& a, const OneOf& b) {
        if constexpr (I <= sizeof...(M)) {
            return a.index_ == I ? *a.template get<I>() == *b.template get<I>() : equal<I + 1>(a, b);
        } else {
            return true;
        }
    }
    static constexpr std::size_t room() {
        std::size_t size = 1;
        ((size = detail::most(size, sizeof(M))), ...);
        return size;
    }

    alignas(M...) unsigned char place_[room()];
    std::uint16_t index_ = 0;
};

}  // namespace structframe

#endif
