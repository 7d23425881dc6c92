// What is known about messages: their ids, sizes and seeds, in lookups over any number of packages. Part of structframe.hpp.
#ifndef STRUCTFRAME_MESSAGE_HPP
#define STRUCTFRAME_MESSAGE_HPP

#include <cstddef>
#include <cstdint>

#include "framing.hpp"

// Firmware that has no use for the names of messages leaves them out.
#ifdef STRUCTFRAME_NO_NAMES
#define STRUCTFRAME_NAME(text)
#else
#define STRUCTFRAME_NAME(text) text
#endif

namespace structframe {

// What readers need to know about a message.
struct MessageInfo {
    std::uint16_t id = 0;  // effective id: package id in the high byte
    std::uint16_t max_size = 0;
    std::uint16_t base_size = 0;
    std::uint16_t min_size = 0;
    Array<std::uint8_t, 2> magic{};  // seeds of the checksum
#ifndef STRUCTFRAME_NO_NAMES
    TextView name;  // "package.Message"
#endif
};

// The messages of one generated package, by ascending id.
struct Package {
    const MessageInfo* messages = nullptr;
    std::size_t count = 0;
#ifndef STRUCTFRAME_NO_NAMES
    TextView name;
#endif

    const MessageInfo* find(std::uint16_t id) const {
        const auto* low = messages;
        const auto* high = messages + count;
#ifndef __OPTIMIZE_SIZE__
        while (high - low > 8) {
            const auto* const middle = low + (high - low) / 2;
            (middle->id <= id ? low : high) = middle;
        }
#endif
        for (; low != high; low++) {
            if (low->id == id) {
                return low;
            }
        }
        return nullptr;
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
    Array<const Package*, N> packages;

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

}  // namespace structframe

#endif
