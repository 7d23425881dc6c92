// The checksum: two sums modulo 256, of the bytes, and of the first sum after each byte. Part of structframe.hpp.
#ifndef STRUCTFRAME_SUMS_HPP
#define STRUCTFRAME_SUMS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "framing.hpp"

#if defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif

// How many bytes are summed up in one go: words can be loaded from any address, their first byte lowest.
#if STRUCTFRAME_LITTLE_ENDIAN && (defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__) || defined(_M_ARM64))
#define STRUCTFRAME_WORD_BYTES 8
#elif STRUCTFRAME_LITTLE_ENDIAN && defined(__ARM_FEATURE_UNALIGNED) && defined(__ARM_FEATURE_SIMD32)
#define STRUCTFRAME_WORD_BYTES 4
#else
#define STRUCTFRAME_WORD_BYTES 1
#endif

namespace structframe {

namespace detail {

// Of each only the lowest byte counts.
struct Sums {
    std::uint32_t a = 0;
    std::uint32_t b = 0;

    constexpr void add(unsigned byte) {
        a += byte;
        b += a;
    }
    // As they are sent, the first one lowest.
    constexpr std::uint16_t sent() const { return static_cast<std::uint16_t>((b & 0xffu) << 8 | (a & 0xffu)); }
};

#if STRUCTFRAME_WORD_BYTES == 8
// Many bytes, lane by lane; the lanes are put together at the end.
STRUCTFRAME_OUTLINE inline Sums sum_many(Sums sums, const std::uint8_t* bytes, std::size_t length) {
    constexpr std::size_t lanes = 16;
#if defined(__GNUC__)
    using Lanes = std::uint8_t __attribute__((vector_size(lanes)));
#else
    struct Lanes {
        std::uint8_t of[lanes];
        std::uint8_t& operator[](std::size_t lane) { return of[lane]; }
    };
#endif
    Lanes first{};
    Lanes second{};
    const auto blocks = length / lanes;
    sums.b += static_cast<std::uint32_t>(blocks * lanes) * sums.a;
    for (std::size_t block = 0; block < blocks; block++, bytes += lanes) {
#if defined(__GNUC__)
        Lanes more;
        std::memcpy(&more, bytes, sizeof more);
        second += first;
        first += more;
#else
        for (std::size_t lane = 0; lane < lanes; lane++) {
            second[lane] = static_cast<std::uint8_t>(second[lane] + first[lane]);
            first[lane] = static_cast<std::uint8_t>(first[lane] + bytes[lane]);
        }
#endif
    }
    for (std::size_t lane = 0; lane < lanes; lane++) {
        sums.a += first[lane];
        sums.b += static_cast<std::uint32_t>(lanes * second[lane] + (lanes - lane) * first[lane]);
    }
    for (std::size_t i = 0; i < length % lanes; i++) {
        sums.add(bytes[i]);
    }
    return sums;
}

// 8 to 64 bytes. Four lanes of 16 bits, two neighbouring bytes to each. The first word holds the odd ones, after zeros, which
// do not count. All lanes stay below a third of what they can hold, so that nothing is carried between them.
STRUCTFRAME_INLINE Sums sum_words(Sums sums, const std::uint8_t* bytes, std::size_t length) {
    constexpr std::uint64_t low = 0x00ff00ff00ff00ffu;
    constexpr std::uint64_t each = 0x0001000100010001u;
    const auto head = ((length - 1) & 7u) + 1;
    const auto* const end = bytes + length;
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    word <<= 8u * (8u - head);
    auto odd = word >> 8 & low;
    auto first = (word & low) + odd;
    std::uint64_t second = 0;
    for (bytes += head; bytes != end; bytes += sizeof word) {
        std::memcpy(&word, bytes, sizeof word);
        const auto more = word >> 8 & low;
        second += first;
        odd += more;
        first += (word & low) + more;
    }
    // The highest lane of a product is the sum of all lanes, each by its weight: how many sums there are from its bytes to
    // the end of their word.
    sums.b += static_cast<std::uint32_t>(length) * sums.a + 8u * static_cast<std::uint32_t>(second * each >> 48) +
              static_cast<std::uint32_t>(first * 0x0008000600040002u >> 48) -
              static_cast<std::uint32_t>(odd * each >> 48);
    sums.a += static_cast<std::uint32_t>(first * each >> 48);
    return sums;
}
#endif

#if defined(__SSE2__) && defined(__GNUC__) && !defined(__clang__)
#define STRUCTFRAME_SSE2 1
// 16 to 64 bytes. By the compiler's own functions: the header with their usual names takes longer to compile than all this.
STRUCTFRAME_INLINE Sums sum_blocks(Sums sums, const std::uint8_t* bytes, std::size_t length) {
    using Bytes = char __attribute__((vector_size(16)));
    using Shorts = short __attribute__((vector_size(16)));
    using Ints = int __attribute__((vector_size(16)));
    using Longs = long long __attribute__((vector_size(16)));
    static constexpr std::uint8_t tail[32] = {0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
                                              0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const Bytes zero{};
    const Shorts low{16, 15, 14, 13, 12, 11, 10, 9};
    const Shorts high{8, 7, 6, 5, 4, 3, 2, 1};
    const auto rest = length % 16u;
    const auto* const end = bytes + length;
    Ints weighted{};
    while (bytes != end) {
        Bytes block;
        std::uint32_t count = 16;
        if (static_cast<std::size_t>(end - bytes) >= 16) {
            std::memcpy(&block, bytes, sizeof block);
        } else {
            // The last block overlaps the one before, whose bytes do not count again.
            Bytes mask;
            std::memcpy(&mask, tail + rest, sizeof mask);
            std::memcpy(&block, end - 16, sizeof block);
            block &= mask;
            count = static_cast<std::uint32_t>(rest);
        }
        bytes += count;
        auto plain = __builtin_ia32_psadbw128(block, zero);
        weighted += __builtin_ia32_pmaddwd128(reinterpret_cast<Shorts>(__builtin_ia32_punpcklbw128(block, zero)), low);
        weighted += __builtin_ia32_pmaddwd128(reinterpret_cast<Shorts>(__builtin_ia32_punpckhbw128(block, zero)), high);
        sums.b += count * sums.a;
        plain += __builtin_shuffle(plain, Longs{1, 0});
        sums.a += static_cast<std::uint32_t>(plain[0]);
    }
    weighted += __builtin_shuffle(weighted, Ints{2, 3, 0, 1});
    weighted += __builtin_shuffle(weighted, Ints{1, 0, 3, 2});
    sums.b += static_cast<std::uint32_t>(weighted[0]);
    return sums;
}
#endif

STRUCTFRAME_INLINE Sums sum(Sums sums, const std::uint8_t* bytes, std::size_t length) {
    const auto* const end = bytes + length;
#if STRUCTFRAME_WORD_BYTES == 8
    if (length > 64) {
        return sum_many(sums, bytes, length);
    }
    if (length >= 8) {
        return sum_words(sums, bytes, length);
    }
#elif STRUCTFRAME_WORD_BYTES == 4
    while (bytes != end - (length & 3u)) {
        std::uint32_t word;
        std::memcpy(&word, bytes, sizeof word);
        bytes += sizeof word;
        sums.b += 4u * sums.a;
        const auto odd = __uxtb16(word >> 8 | word << 24);
        sums.b = static_cast<std::uint32_t>(
            __smlad(static_cast<int16x2_t>(__uxtb16(word)), 0x00020004, static_cast<std::int32_t>(sums.b)));
        sums.b = static_cast<std::uint32_t>(
            __smlad(static_cast<int16x2_t>(odd), 0x00010003, static_cast<std::int32_t>(sums.b)));
        sums.a = __usada8(word, 0, sums.a);
    }
#endif
    while (bytes != end) {
        sums.add(*bytes++);
    }
    return sums;
}

// The checksum after more bytes, with the seeds after the first `base` of them.
STRUCTFRAME_OUTLINE inline std::uint16_t checksum_any(Sums sums, const std::uint8_t* bytes, std::size_t length,
                                                      std::size_t base, Array<std::uint8_t, 2> magic) {
    auto first = base < length ? base : length;
    for (bool seeded = false;; seeded = true) {
        sums = sum(sums, bytes, first);
        if (seeded) {
            return sums.sent();
        }
        sums.add(magic[0]);
        sums.add(magic[1]);
        bytes += first;
        first = length - first;
    }
}

STRUCTFRAME_INLINE std::uint16_t checksum(Sums sums, const std::uint8_t* bytes, std::size_t length, std::size_t base,
                                          Array<std::uint8_t, 2> magic) {
#if defined(STRUCTFRAME_SSE2) && !defined(__OPTIMIZE_SIZE__)
    // Most payloads are short and have no extensions.
    if (base >= length && length >= 16 && length <= 64) {
        sums = sum_blocks(sums, bytes, length);
        sums.add(magic[0]);
        sums.add(magic[1]);
        return sums.sent();
    }
#endif
    return checksum_any(sums, bytes, length, base, magic);
}

}  // namespace detail

}  // namespace structframe

#endif
