// Payloads: the fixed layout at its offsets, the wire layout of variable messages field after field. Part of structframe.hpp.
#ifndef STRUCTFRAME_LAYOUT_HPP
#define STRUCTFRAME_LAYOUT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "union.hpp"

namespace structframe {

namespace detail {

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
template <class V>
class ImageReader {
public:
    ImageReader(const V& view, std::size_t base) : view_(view), base_(base) {}
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
    const V& view_;
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
        const auto size = most(held, Shape::min_size);
        auto* place = take(Shape::tag + prefix + size);
        if (place == nullptr) {
            return;
        }
        Shape::store_tag(place, Shape::tag_of(value));
        if (prefix == 2) {
            store_bits(place + Shape::tag, static_cast<std::uint16_t>(size));
        }
        if (const auto* unknown = value.value.template get<Shape::members + 1>()) {
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
        const auto size = most(Shape::size_at(place), Shape::min_size);
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
        View part{view_.data + at_, least(length, place != 0 ? Shape::size_at(place) : Shape::region), nullptr, 0};
        // A shorter member is completed with its defaults.
        Shape::at(place, [&](auto at) {
            using Member = typename Shape::template Member<at.value>;
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
            ImageReader<View>(view_, at_).template get_union<Shape>(0, value);
            at_ = least(view_.length, at_ + Shape::tag + Shape::region);
        }
    }
    template <std::size_t BaseRegion, std::size_t N>
    void take_region(Region<N>& value) {
        if (need(BaseRegion)) {
            view_.bytes(at_, value.bytes.data(), N);
            at_ = least(view_.length, at_ + N);
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

// True when a message lies in memory as on the wire, whatever its values are: plain values without gaps between them.
template <class Message>
inline constexpr bool is_image = STRUCTFRAME_LITTLE_ENDIAN && Codec<Message>::is_plain && !Codec<Message>::is_variable &&
                                 sizeof(Message) == Codec<Message>::info.max_size &&
                                 __is_trivially_copyable(Message);

// Messages up to this size are completed on the stack when bytes of them are missing.
inline constexpr std::size_t short_image = 256;

// Reads the fixed layout.
template <class Message>
STRUCTFRAME_OUTLINE void load_fixed(Message& message, const std::uint8_t* payload, std::size_t length) {
    constexpr std::size_t size = Codec<Message>::info.max_size;
    constexpr const auto& defaults = Codec<Message>::defaults;
    if constexpr (size > 0 && size <= short_image) {
        std::uint8_t image[size];
        if (length < size) {
            view_of(payload, length, defaults.data(), defaults.size()).bytes(0, image, size);
            payload = image;
        }
        Codec<Message>::load(message, Whole{payload}, 0);
    } else if (size > 0 && length >= size) {
        Codec<Message>::load(message, Whole{payload}, 0);
    } else {
        Codec<Message>::load(message, view_of(payload, length, defaults.data(), defaults.size()), 0);
    }
}

}  // namespace detail

// Writes the payload; a buffer of max_size is always enough.
template <class Message>
STRUCTFRAME_INLINE Written encode(const Message& message, Layout layout, std::uint8_t* out, std::size_t capacity) {
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
        // What is not plain may leave gaps.
        if constexpr (!Codec<Message>::is_plain) {
            std::memset(out, 0, size);
        }
    }
    Codec<Message>::store(message, out);
    return {Status::Ok, size};
}

// Reads a payload: missing bytes are defaults where the format says so, surplus ones are ignored, counts are bounded.
template <class Message>
[[nodiscard]] STRUCTFRAME_INLINE Status decode(Message& message, Layout layout, const std::uint8_t* payload,
                                               std::size_t length) {
#ifndef __OPTIMIZE_SIZE__
    if constexpr (!Codec<Message>::is_variable && Codec<Message>::info.max_size > 0) {
        if (length >= Codec<Message>::info.max_size) {
            Codec<Message>::load(message, detail::Whole{payload}, 0);
            return Status::Ok;
        }
    }
#endif
    if constexpr (Codec<Message>::is_variable) {
        if (layout == Layout::Wire) {
            const auto& defaults = Codec<Message>::defaults;
            const auto view = detail::view_of(payload, length, defaults.data(), defaults.size());
            message = Message{};
            detail::Reader reader(view);
            Codec<Message>::load_wire(message, reader);
            return reader.status();
        }
    } else {
        static_cast<void>(layout);
    }
    detail::load_fixed(message, payload, length);
    return Status::Ok;
}

}  // namespace structframe

#endif
