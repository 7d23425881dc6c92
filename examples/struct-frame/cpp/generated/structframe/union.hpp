// How unions lie in both layouts. Part of structframe.hpp.
#ifndef STRUCTFRAME_UNION_HPP
#define STRUCTFRAME_UNION_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "field.hpp"

namespace structframe {

namespace detail {

// How a union is written: bytes of its tag, of its region, of the region's base part, and of the shortest member.
template <class T, std::size_t Tag, std::size_t Region, std::size_t BaseRegion, std::size_t MinSize>
struct Shape {
    using Union = T;
    static constexpr std::size_t tag = Tag;
    static constexpr std::size_t region = Region;
    static constexpr std::size_t base_region = BaseRegion;
    static constexpr std::size_t min_size = MinSize;
    static constexpr std::size_t members = T::tags.size();
    template <std::size_t I>
    using Member = typename decltype(T::value)::template Type<I>;

    static std::uint16_t tag_of(const T& value) {
        const auto index = value.value.index();
        if (index == 0) {
            return 0;
        }
        return index <= members ? T::tags[index - 1] : value.value.template get<members + 1>()->tag;
    }

    // Calls `visit` with the place of a member, from 1; false for other numbers.
    template <class F>
    static bool at(std::size_t index, F visit) {
        return at<1>(index, visit);
    }

    // The place of the member with this tag, from 1; 0 when there is none.
    static std::size_t place(std::uint16_t tag_value) {
        for (std::size_t i = 0; i < members; i++) {
            if (T::tags[i] == tag_value) {
                return i + 1;
            }
        }
        return 0;
    }

    static void store_tag(std::uint8_t* out, std::uint16_t value) { store_count(out, Tag, value); }

    // The member that is set, or an unknown one's bytes, into a zeroed region.
    static void store_region(const T& value, std::uint8_t* out) {
        const auto index = value.value.index();
        at(index, [&](auto place) {
            Field<Member<place.value>>::store(*value.value.template get<place.value>(), out);
        });
        if (const auto* unknown = value.value.template get<members + 1>()) {
            std::memcpy(out, unknown->region.data(), Region);
        }
    }

    // Bytes of the member that is set; of an unknown one up to its last byte that says something.
    static std::size_t held(const T& value) {
        std::size_t size = 0;
        at(value.value.index(), [&](auto place) { size = size_of<place.value>(); });
        if (const auto* unknown = value.value.template get<members + 1>()) {
            size = Region;
            while (size > 0 && unknown->region[size - 1] == 0) {
                size--;
            }
        }
        return size;
    }

    template <std::size_t Place>
    static constexpr std::size_t size_of() {
        return Field<Member<Place>>::size;
    }

    // Bytes of the member at a place.
    static std::size_t size_at(std::size_t index) {
        std::size_t size = 0;
        at(index, [&](auto place) { size = size_of<place.value>(); });
        return size;
    }

    // Sets what the tag says from a view that begins with the region.
    template <class V>
    static void load_region(T& value, std::uint16_t tag_value, const V& view, std::size_t begin) {
        const auto index = place(tag_value);
        if (index == 0 && tag_value != 0) {
            auto& unknown = value.value.template set<members + 1>();
            unknown.tag = tag_value;
            view.bytes(begin, unknown.region.data(), Region);
            return;
        }
        value.value.clear();
        at(index, [&](auto place) {
            Field<Member<place.value>>::load(value.value.template set<place.value>(), view, begin);
        });
    }

private:
    template <std::size_t I, class F>
    static bool at(std::size_t index, F& visit) {
        if constexpr (I <= members) {
            if (index == I) {
                visit(Place<I>{});
                return true;
            }
            return at<I + 1>(index, visit);
        } else {
            return false;
        }
    }
};

// A union without a tag: its bytes.
template <std::size_t N>
struct Region {
    Array<std::uint8_t, N> bytes{};
    friend constexpr bool operator==(const Region& a, const Region& b) {
        return same(a.bytes.data(), b.bytes.data(), N);
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

}  // namespace detail

}  // namespace structframe

#endif
