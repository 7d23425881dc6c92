/*
 * structframe.h: frames, checksums and readers of struct-frame, in C99, without malloc.
 *
 * Shipped by `fw gen` beside the code it generates. Nothing here depends on a schema.
 *
 * Writing:  sf_write_frame() puts a frame around a payload; generated X_write() encodes and frames a message.
 * Reading:  SfBufferReader reads a whole buffer, SfStream chunks of any size down to one byte. Both run the same state
 *           machine and tell the same events, however the bytes were split. A frame with a wrong checksum is reported
 *           and then searched for good frames, so that a damaged length swallows nothing.
 * Talking:  SfClient dispatches received messages to subscribers and sends requests that wait for their response, over
 *           a transport that you supply.
 *
 * All functions accept any bytes from the other side. No function keeps a pointer longer than its comment says.
 *
 * Switches, to be the same for every file of a program:
 *   SF_SEND_ONLY       leaves out everything that reads
 *   SF_RECEIVE_ONLY    leaves out everything that writes
 *   SF_NO_SEARCH       leaves out the search for good frames inside failed ones: a damaged length may then swallow frames
 *   SF_NO_NAMES        leaves out the names of messages
 *   SF_NO_COUNTERS     leaves out what readers count
 *   SF_ONLY_FRAMING    a payload kind such as SF_PAYLOAD_EXTENDED: every framing in use is Basic with this kind, whatever is
 *                      asked for at run time, which makes the code smaller
 *   SF_SMALL_CHECKSUM  1: the checksum is a short loop; 0: also one for vector units. Found out when not given
 */
#ifndef STRUCTFRAME_H
#define STRUCTFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__ARM_FEATURE_SIMD32)
#include <arm_acle.h>
#endif

#if defined(SF_SEND_ONLY) && defined(SF_RECEIVE_ONLY)
#error "SF_SEND_ONLY and SF_RECEIVE_ONLY leave nothing"
#endif

/* True where multi-byte numbers lie in memory as on the wire: there a packed struct is its own fixed layout. */
#ifndef SF_LITTLE_ENDIAN
#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__)
#define SF_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#elif defined(_M_IX86) || defined(_M_X64) || defined(_M_ARM) || defined(_M_ARM64)
#define SF_LITTLE_ENDIAN 1
#else
#define SF_LITTLE_ENDIAN 0 /* not known: field by field is always right */
#endif
#endif

/* For what costs nothing when its arguments are known at compile time. */
#if defined(__GNUC__)
#define SF_INLINE static inline __attribute__((always_inline))
#else
#define SF_INLINE static inline
#endif

#ifndef SF_SMALL_CHECKSUM
#if defined(__SSE2__) || defined(_M_X64) || defined(__ARM_NEON) || defined(_M_ARM64) || defined(__ALTIVEC__) ||        \
    defined(__riscv_vector)
#define SF_SMALL_CHECKSUM 0
#else
#define SF_SMALL_CHECKSUM 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Outcomes ------------------------------------------------------------------------------------------------- */

/* What came of a call. */
typedef enum SfStatus {
    SF_OK = 0,
    SF_BUFFER_TOO_SHORT,     /* the output does not fit into the buffer */
    SF_TRUNCATED,            /* a payload ends within its base part */
    SF_TOO_LONG,             /* text, a blob or an array has more than its bound */
    SF_COUNT_EXCEEDS_BOUND,  /* a received count of a variable message exceeds its bound */
    SF_UNKNOWN_TAG,          /* an unknown tag hides what follows it */
    SF_OTHER_MESSAGE,        /* the frame holds another message */
    SF_ID_TOO_LARGE,         /* the framing carries ids up to 255 only */
    SF_PAYLOAD_TOO_LONG,     /* the length field has no room for this payload */
    SF_PAYLOAD_NOT_WHOLE,    /* a framing without a length needs exactly MAX_SIZE bytes */
    SF_NOT_SENT,             /* the transport did not send */
    SF_CLOSED,               /* the transport is closed */
    SF_TIMEOUT               /* no response in time */
} SfStatus;

/* The stable name of a status, such as "buffer_too_short". */
const char *sf_status_name(SfStatus status);

/* ---- Framings ------------------------------------------------------------------------------------------------- */

/* Which start bytes a frame has. */
typedef enum SfHeaderKind {
    SF_HEADER_NONE = 0,  /* none */
    SF_HEADER_TINY = 1,  /* one: 0x70 + T */
    SF_HEADER_BASIC = 2  /* two: 0x90 and 0x70 + T */
} SfHeaderKind;

/* What follows the start bytes; the number is T. */
typedef enum SfPayloadKind {
    SF_PAYLOAD_MINIMAL = 0,                     /* MSG, payload */
    SF_PAYLOAD_DEFAULT = 1,                     /* LEN8, MSG, payload, checksum */
    SF_PAYLOAD_EXTENDED_MSG_IDS = 2,            /* LEN8, PKG, MSG, payload, checksum */
    SF_PAYLOAD_EXTENDED_LENGTH = 3,             /* LEN16, MSG, payload, checksum */
    SF_PAYLOAD_EXTENDED = 4,                    /* LEN16, PKG, MSG, payload, checksum */
    SF_PAYLOAD_SYS_COMP = 5,                    /* SYS, COMP, LEN8, MSG, payload, checksum */
    SF_PAYLOAD_SEQ = 6,                         /* SEQ, LEN8, MSG, payload, checksum */
    SF_PAYLOAD_MULTI_SYSTEM_STREAM = 7,         /* SEQ, SYS, COMP, LEN8, MSG, payload, checksum */
    SF_PAYLOAD_EXTENDED_MULTI_SYSTEM_STREAM = 8 /* SEQ, SYS, COMP, LEN16, PKG, MSG, payload, checksum */
} SfPayloadKind;

/* A header kind and a payload kind. */
typedef struct SfFraming {
    SfHeaderKind header;
    SfPayloadKind payload;
} SfFraming;

/* The five profiles. */
static const SfFraming SF_STANDARD = {SF_HEADER_BASIC, SF_PAYLOAD_DEFAULT};
static const SfFraming SF_SENSOR = {SF_HEADER_TINY, SF_PAYLOAD_MINIMAL};
static const SfFraming SF_IPC = {SF_HEADER_NONE, SF_PAYLOAD_MINIMAL};
static const SfFraming SF_BULK = {SF_HEADER_BASIC, SF_PAYLOAD_EXTENDED};
static const SfFraming SF_NETWORK = {SF_HEADER_BASIC, SF_PAYLOAD_EXTENDED_MULTI_SYSTEM_STREAM};

/* What stands before the payload, worked out from a framing: start bytes, SEQ, SYS and COMP, length, PKG, and always MSG. */
typedef struct SfShape {
    uint8_t start[2];
    uint8_t start_length;
    uint8_t sequence;     /* bytes of SEQ: 0 or 1 */
    uint8_t system;       /* bytes of SYS and COMP: 0 or 2 */
    uint8_t length_bytes; /* 0, 1 or 2; with a length there is a checksum behind the payload */
    uint8_t package;      /* bytes of PKG: 0 or 1 */
    uint8_t header;       /* all of them */
} SfShape;

SF_INLINE SfShape sf_shape(SfFraming framing) {
#ifdef SF_ONLY_FRAMING
    framing.header = SF_HEADER_BASIC;
    framing.payload = SF_ONLY_FRAMING;
#endif
    /* One bit for each payload kind; a kind that does not exist is Minimal. */
    const unsigned kind = (unsigned)framing.payload < 9u ? (unsigned)framing.payload : 0u;
    SfShape shape;
    shape.start_length = framing.header == SF_HEADER_BASIC ? 2 : framing.header == SF_HEADER_TINY ? 1 : 0;
    shape.start[1] = (uint8_t)(0x70u + kind);
    shape.start[0] = framing.header == SF_HEADER_BASIC ? 0x90 : shape.start[1];
    shape.sequence = (uint8_t)(0x1c0u >> kind & 1u);
    shape.system = (uint8_t)((0x1a0u >> kind & 1u) << 1);
    shape.length_bytes = (uint8_t)((kind != 0) + (0x118u >> kind & 1u));
    shape.package = (uint8_t)(0x114u >> kind & 1u);
    shape.header =
        (uint8_t)(shape.start_length + shape.sequence + shape.system + shape.length_bytes + shape.package + 1);
    return shape;
}

/* Which of the two layouts a payload has: the framing decides. */
typedef enum SfLayout {
    SF_LAYOUT_WIRE, /* framings with a length (Standard, Bulk, Network): variable messages are trimmed */
    SF_LAYOUT_FIXED /* framings without a length (Sensor, IPC): always MAX_SIZE bytes */
} SfLayout;

/* The layout of payloads in this framing. */
SF_INLINE SfLayout sf_framing_layout(SfFraming framing) {
    return sf_shape(framing).length_bytes > 0 ? SF_LAYOUT_WIRE : SF_LAYOUT_FIXED;
}

/* Bytes before the payload. */
SF_INLINE size_t sf_framing_header_length(SfFraming framing) { return sf_shape(framing).header; }

/* Bytes before and after the payload. */
SF_INLINE size_t sf_framing_overhead(SfFraming framing) {
    const SfShape shape = sf_shape(framing);
    return shape.header + (shape.length_bytes > 0 ? 2u : 0u);
}

/* The longest payload. */
SF_INLINE size_t sf_framing_max_payload(SfFraming framing) {
    return sf_shape(framing).length_bytes == 1 ? 0xff : 0xffff;
}

/* More than any framing adds to a payload; for buffers such as uint8_t out[X_MAX_SIZE + SF_MAX_OVERHEAD]. */
#define SF_MAX_OVERHEAD 16

/* ---- Messages ------------------------------------------------------------------------------------------------- */

/* What readers need to know about a message. */
typedef struct SfMessageInfo {
    uint16_t id; /* effective id: package id in the high byte */
    uint16_t max_size;
    uint16_t base_size;
    uint16_t min_size;
    uint8_t magic[2]; /* seeds of the checksum */
#ifndef SF_NO_NAMES
    const char *name; /* "package.Message" */
#endif
} SfMessageInfo;

/* A package, and an entry of its table of messages. */
#ifndef SF_NO_NAMES
#define SF_PACKAGE(name, messages, count)                                                                              \
    { (name), (messages), (count) }
#define SF_INFO(id, max_size, base_size, min_size, magic1, magic2, name)                                               \
    { (id), (max_size), (base_size), (min_size), {(magic1), (magic2)}, (name) }
#else
#define SF_PACKAGE(name, messages, count)                                                                              \
    { (messages), (count) }
#define SF_INFO(id, max_size, base_size, min_size, magic1, magic2, name)                                               \
    { (id), (max_size), (base_size), (min_size), {(magic1), (magic2)} }
#endif

/* The messages of one generated package, by ascending id. */
typedef struct SfPackage {
#ifndef SF_NO_NAMES
    const char *name;
#endif
    const SfMessageInfo *messages;
    size_t count;
} SfPackage;

/* Several packages; when two know an id, the earlier one wins. */
typedef struct SfLookup {
    const SfPackage *const *packages;
    size_t count;
} SfLookup;

/* The message with this effective id, or NULL. */
const SfMessageInfo *sf_lookup_find(const SfLookup *lookup, uint16_t id);

/* A message type with its generated functions, for code that handles any message. */
typedef struct SfMessageType {
    const SfMessageInfo *info;
#ifndef SF_RECEIVE_ONLY
    SfStatus (*encode)(const void *message, SfLayout layout, uint8_t *out, size_t capacity, size_t *length);
#endif
#ifndef SF_SEND_ONLY
    SfStatus (*decode)(void *message, SfLayout layout, const uint8_t *payload, size_t length);
#endif
} SfMessageType;

/* What a frame says besides its payload; zero where its framing has no such field. */
typedef struct SfHeader {
    uint8_t sequence;
    uint8_t system;
    uint8_t component;
} SfHeader;

/* ---- Checksum ------------------------------------------------------------------------------------------------- */

/* Two sums, of which only the lowest byte of each counts: of the bytes, and of the first sum after each byte. */
typedef struct SfSums {
    uint32_t a;
    uint32_t b;
} SfSums;

/* Words are summed up in one go where they can be loaded from any address, their first byte lowest. What only sends, and is
   to be small, goes byte by byte. */
#if defined(SF_SEND_ONLY) && defined(__OPTIMIZE_SIZE__)
#define SF_WORD_BYTES 1
#elif SF_LITTLE_ENDIAN && (defined(__x86_64__) || defined(_M_X64) || defined(__aarch64__) || defined(_M_ARM64))
#define SF_WORD_BYTES 8
#elif SF_LITTLE_ENDIAN && defined(__ARM_FEATURE_UNALIGNED) && defined(__ARM_FEATURE_SIMD32)
#define SF_WORD_BYTES 4
#else
#define SF_WORD_BYTES 1
#endif

SF_INLINE SfSums sf_sum_byte(SfSums sums, unsigned byte) {
    sums.a += byte;
    sums.b += sums.a;
    return sums;
}

#if !SF_SMALL_CHECKSUM
/* More bytes, lane by lane: for many bytes on machines with vector units. */
SfSums sf_sum_many(SfSums sums, const uint8_t *bytes, size_t length);
#endif

#if SF_WORD_BYTES == 8
/* 8 to 64 more bytes. */
SF_INLINE SfSums sf_sum_words(SfSums sums, const uint8_t *bytes, size_t length) {
    /* Four lanes of 16 bits, two neighbouring bytes to each. The first word holds the odd ones, after zeros, which do not
       count. All lanes stay below a third of what they can hold, so that nothing is carried between them below. */
    const uint64_t low = 0x00ff00ff00ff00ffu;
    const uint64_t each = 0x0001000100010001u;
    const size_t head = ((length - 1) & 7u) + 1;
    const uint8_t *const end = bytes + length;
    uint64_t word;
    uint64_t odd;
    uint64_t first;
    uint64_t second = 0;
    memcpy(&word, bytes, sizeof word);
    bytes += head;
    word <<= 8u * (8u - head);
    odd = word >> 8 & low;
    first = (word & low) + odd;
    while (bytes != end) {
        uint64_t more;
        memcpy(&word, bytes, sizeof word);
        bytes += sizeof word;
        more = word >> 8 & low;
        second += first;
        odd += more;
        first += (word & low) + more;
    }
    /* The highest lane of a product is the sum of all lanes, each by its weight: how many sums there are from its bytes to
       the end of their word. */
    sums.b += (uint32_t)length * sums.a + 8u * (uint32_t)(second * each >> 48) +
              (uint32_t)(first * 0x0008000600040002u >> 48) - (uint32_t)(odd * each >> 48);
    sums.a += (uint32_t)(first * each >> 48);
    return sums;
}
#endif

/* More bytes. */
SF_INLINE SfSums sf_sum(SfSums sums, const uint8_t *bytes, size_t length) {
    const uint8_t *const end = bytes + length;
#if !SF_SMALL_CHECKSUM
    if (length > 64) {
        return sf_sum_many(sums, bytes, length);
    }
#endif
#if SF_WORD_BYTES == 8 && !SF_SMALL_CHECKSUM
    if (length >= 8) {
        return sf_sum_words(sums, bytes, length);
    }
#elif SF_WORD_BYTES == 4
    while (bytes != end - (length & 3u)) {
        uint32_t word;
        memcpy(&word, bytes, sizeof word);
        bytes += sizeof word;
        sums.b += 4u * sums.a;
        sums.b = (uint32_t)__smlad((int16x2_t)__uxtb16(word), 0x00020004, (int32_t)sums.b);
        sums.b = (uint32_t)__smlad((int16x2_t)__uxtb16(word >> 8 | word << 24), 0x00010003, (int32_t)sums.b);
        sums.a = __usada8(word, 0, sums.a);
    }
#endif
    while (bytes != end) {
        sums = sf_sum_byte(sums, *bytes++);
    }
    return sums;
}

/* The sums as they are sent, the first one lowest. */
SF_INLINE uint16_t sf_sums_sent(SfSums sums) { return (uint16_t)((sums.b & 0xffu) << 8 | (sums.a & 0xffu)); }

/* The checksum after a payload, with the seeds after the first `base` bytes. `magic` has the first seed lowest. */
SF_INLINE uint16_t sf_checksum_inline(SfSums sums, const uint8_t *payload, size_t length, size_t base,
                                      unsigned magic) {
    const size_t first = base < length ? base : length;
    sums = sf_sum(sums, payload, first);
    sums = sf_sum_byte(sf_sum_byte(sums, magic & 0xffu), magic >> 8);
    if (first < length) {
        sums = sf_sum(sums, payload + first, length - first);
    }
    return sf_sums_sent(sums);
}

/* The same as a function, once in a program. */
uint16_t sf_checksum(SfSums sums, const uint8_t *payload, size_t length, size_t base, unsigned magic);

#ifdef __OPTIMIZE_SIZE__
#define SF_CHECKSUM sf_checksum
#else
#define SF_CHECKSUM sf_checksum_inline
#endif

#ifndef SF_RECEIVE_ONLY
/* ---- Writing -------------------------------------------------------------------------------------------------- */

/* Writes a frame around a payload that has the layout of the framing. Nothing is written unless SF_OK. */
SfStatus sf_write_frame(SfFraming framing, SfHeader header, const SfMessageInfo *info, const uint8_t *payload,
                        size_t payload_length, uint8_t *out, size_t capacity, size_t *length);

/* Encodes a message in place and writes its frame. */
SfStatus sf_write_message(const SfMessageType *type, const void *message, SfFraming framing, SfHeader header,
                          uint8_t *out, size_t capacity, size_t *length);

/* Whether a framing can carry this; for generated code. */
SF_INLINE SfStatus sf_carries(SfFraming framing, uint16_t id, size_t max_size, size_t payload_length,
                                  size_t capacity) {
    const SfShape shape = sf_shape(framing);
    if (id > 0xff && shape.package == 0) {
        return SF_ID_TOO_LARGE;
    }
    if (shape.length_bytes == 0 && payload_length != max_size) {
        return SF_PAYLOAD_NOT_WHOLE;
    }
    if (payload_length > (shape.length_bytes == 1 ? 0xffu : 0xffffu)) {
        return SF_PAYLOAD_TOO_LONG;
    }
    return capacity < shape.header + (shape.length_bytes > 0 ? 2u : 0u) + payload_length ? SF_BUFFER_TOO_SHORT : SF_OK;
}

/* Writes what stands around a payload, which stands at its place already, and at `payload` too; returns the length of the
   frame. For generated code, which has asked sf_carries(). */
SF_INLINE size_t sf_seal(SfFraming framing, SfHeader header, uint16_t id, size_t base_size, uint8_t magic1,
                         uint8_t magic2, const uint8_t *payload, size_t payload_length, uint8_t *out) {
    const SfShape shape = sf_shape(framing);
    size_t at = shape.start_length;
    SfSums sums = {0, 0};
    if (shape.start_length > 0) {
        out[0] = shape.start[0];
    }
    if (shape.start_length > 1) {
        out[1] = shape.start[1];
    }
    if (shape.sequence > 0) {
        out[at++] = header.sequence;
        sums = sf_sum_byte(sums, header.sequence);
    }
    if (shape.system > 0) {
        out[at++] = header.system;
        out[at++] = header.component;
        sums = sf_sum_byte(sums, header.system);
        sums = sf_sum_byte(sums, header.component);
    }
    if (shape.length_bytes > 0) {
        out[at++] = (uint8_t)payload_length;
        sums = sf_sum_byte(sums, (uint8_t)payload_length);
    }
    if (shape.length_bytes > 1) {
        out[at++] = (uint8_t)(payload_length >> 8);
        sums = sf_sum_byte(sums, (uint8_t)(payload_length >> 8));
    }
    if (shape.package > 0) {
        out[at++] = (uint8_t)(id >> 8);
        sums = sf_sum_byte(sums, (uint8_t)(id >> 8));
    }
    out[at++] = (uint8_t)id;
    if (shape.length_bytes > 0) {
        const uint16_t checksum = SF_CHECKSUM(sf_sum_byte(sums, (uint8_t)id), payload, payload_length, base_size,
                                              (unsigned)magic2 << 8 | magic1);
        out[at + payload_length] = (uint8_t)checksum;
        out[at + payload_length + 1] = (uint8_t)(checksum >> 8);
        at += 2;
    }
    return at + payload_length;
}

/* The end of writing a message: `status` is what came of encoding `payload_length` bytes at their place. For generated
   code. */
SF_INLINE SfStatus sf_finish_frame(SfStatus status, SfFraming framing, SfHeader header, uint16_t id, size_t max_size,
                                   size_t base_size, uint8_t magic1, uint8_t magic2, size_t payload_length,
                                   uint8_t *out, size_t capacity, size_t *length) {
    *length = 0;
    if (status == SF_OK) {
        status = sf_carries(framing, id, max_size, payload_length, capacity);
    }
    if (status == SF_OK) {
        *length = sf_seal(framing, header, id, base_size, magic1, magic2, out + sf_shape(framing).header,
                          payload_length, out);
    }
    return status;
}

/* Writes a frame around bytes that are the payload already: a packed struct. For generated code. */
SF_INLINE SfStatus sf_write_image(SfFraming framing, SfHeader header, uint16_t id, size_t base_size, uint8_t magic1,
                                  uint8_t magic2, const void *image, size_t size, uint8_t *out, size_t capacity,
                                  size_t *length) {
    const SfStatus status = sf_carries(framing, id, size, size, capacity);
    *length = 0;
    if (status == SF_OK) {
        memcpy(out + sf_shape(framing).header, image, size);
        /* Summed up where it was read: what was just written in pieces cannot be loaded in words at once. */
        *length =
            sf_seal(framing, header, id, base_size, magic1, magic2, (const uint8_t *)image, size, out);
    }
    return status;
}
#endif

#ifndef SF_SEND_ONLY
/* ---- Reading -------------------------------------------------------------------------------------------------- */

/* What a reader found. */
typedef enum SfEventKind {
    SF_EVENT_FRAME,        /* a good frame */
    SF_EVENT_BAD_CHECKSUM, /* a complete frame whose checksum is wrong; nothing in it can be relied upon */
    SF_EVENT_SKIPPED,      /* bytes between frames */
    SF_EVENT_TRUNCATED     /* a frame that was not complete when the input ended */
} SfEventKind;

/* One thing that a reader found. Pointers are good until the reader goes on. */
typedef struct SfEvent {
    SfEventKind kind;
    uint64_t start; /* where it stands in the input */
    uint64_t end;
    /* Of a good frame, and as claimed by one with a wrong checksum: */
    uint16_t id; /* effective id */
    SfHeader header;
    size_t payload_length;
    /* Of a good frame: */
    const uint8_t *payload;
    const SfMessageInfo *info; /* NULL for an id that the lookup does not know */
    bool recovered;            /* found inside damaged bytes */
    /* Of a frame with a wrong checksum: */
    uint8_t expected[2]; /* computed */
    uint8_t found[2];    /* carried */
} SfEvent;

/* Decodes the message in a good frame of this framing. */
SfStatus sf_read_message(const SfMessageType *type, void *message, SfFraming framing, const SfEvent *frame);

/* What a reader has counted. Counters stop at their largest value. */
typedef struct SfCounters {
    uint32_t frames;          /* good frames, recovered ones included */
    uint32_t recovered;       /* good frames found inside damaged bytes */
    uint32_t unknown_ids;     /* good frames of unknown ids */
    uint32_t crc_failures;    /* complete frames with a wrong checksum */
    uint32_t sync_recoveries; /* wrong checksums, and start bytes that turned out to begin nothing */
    uint32_t failed_bytes;    /* bytes of both */
    uint32_t noise_bytes;     /* bytes outside frames that did not even look like a start */
    uint32_t len_errors;      /* lengths outside MIN_SIZE to MAX_SIZE; newer peers may send such frames */
    uint32_t seq_gaps;        /* sequence numbers that do not follow the frame before */
} SfCounters;

/* The one state machine behind both readers. Its members are its own business: positions are counted from the first byte
   at hand, which stands at `base` of the input. */
typedef struct SfMachine {
    /* Flags first: small machines reach what stands near the beginning with short instructions. */
    bool compared;
    bool has_sequence;
    uint8_t sequence;
#ifndef SF_NO_SEARCH
    bool has_open;
    bool has_rescan;
    bool rescan_remembers;
#endif
#ifndef SF_ONLY_FRAMING
    SfShape shape;
#endif
    const SfLookup *lookup;
    const SfMessageInfo *last; /* of the frame before, as frames often come in rows */
    uint64_t base;
    size_t position;
    size_t capacity;
    size_t need;
    size_t noise; /* bytes before `position` since the last event */
    size_t oversized_end;
    size_t false_bytes; /* those bytes of the noise that looked like a start */
#ifndef SF_NO_SEARCH
    size_t open_start;
    size_t open_end;
    size_t rescan_at;
    size_t rescan_to;
    size_t rescan_end;
#endif
#ifndef SF_NO_COUNTERS
    SfCounters counters;
#endif
} SfMachine;

/* Reads a whole buffer. */
typedef struct SfBufferReader {
    SfMachine machine;
    const uint8_t *data;
    size_t length;
} SfBufferReader;

/* Begins to read; `data` and `lookup` must outlive the reader. */
void sf_buffer_reader_init(SfBufferReader *reader, SfFraming framing, const SfLookup *lookup, const uint8_t *data,
                           size_t length);

/* The next event, at last with what is left over; false at the end. */
bool sf_buffer_reader_next(SfBufferReader *reader, SfEvent *event);

/* The next good frame; other events are only counted. False at the end. */
bool sf_buffer_reader_next_frame(SfBufferReader *reader, SfEvent *frame);

/* Parses one frame that begins with the first byte. SF_OK: `frame` is set. SF_TRUNCATED: more bytes may complete it.
   SF_OTHER_MESSAGE: no good frame begins here. */
SfStatus sf_parse_frame(SfFraming framing, const SfLookup *lookup, const uint8_t *data, size_t length, SfEvent *frame);

/* Is told of every event; must not feed the stream that tells it. */
typedef void (*SfEventHandler)(void *context, const SfEvent *event);

/* Reads chunks of any size. A frame longer than the buffer is passed over as if its start bytes were noise; to find every
   good frame behind a damaged length, the buffer should have room for two frames of the longest kind. */
typedef struct SfStream {
    SfMachine machine;
    uint8_t *buffer;
    size_t filled;
} SfStream;

/* Begins to read; `buffer` and `lookup` must outlive the stream. */
void sf_stream_init(SfStream *stream, SfFraming framing, const SfLookup *lookup, uint8_t *buffer, size_t capacity);

/* Reads a chunk that may complete something, and returns how many bytes are held then; for sf_stream_feed(). */
size_t sf_stream_read(SfStream *stream, const uint8_t *chunk, size_t length, SfEventHandler handler, void *context);

/* Reads a chunk and tells what it completed. `handler` may be NULL. */
static inline void sf_stream_feed(SfStream *stream, const uint8_t *chunk, size_t length, SfEventHandler handler,
                                  void *context) {
    const size_t filled = stream->filled;
    if (length == 1 && filled + 1 < stream->machine.need) {
        /* Bytes that come one by one: most of them complete nothing. */
        stream->buffer[filled] = *chunk;
        stream->filled = filled + 1;
    } else {
        /* Assigned here, where the compiler sees it: a loop over bytes then keeps it in a register. */
        stream->filled = sf_stream_read(stream, chunk, length, handler, context);
    }
}

/* Ends the stream: tells what is left over. The stream can be used again; positions go on counting. */
void sf_stream_finish(SfStream *stream, SfEventHandler handler, void *context);

/* Forgets an incomplete frame and the last sequence number. */
void sf_stream_reset(SfStream *stream);

/* Bytes of the incomplete frame that is waited for. */
size_t sf_stream_partial(const SfStream *stream);

#endif

#if !defined(SF_SEND_ONLY) && !defined(SF_RECEIVE_ONLY)
/* ---- Client --------------------------------------------------------------------------------------------------- */

/* What a client needs from the outside. */
typedef struct SfTransport {
    void *context;
    /* Sends all bytes; false when it cannot. */
    bool (*send)(void *context, const uint8_t *data, size_t length);
    /* Waits up to `timeout_ms` for bytes: their number, 0 when none came, negative when closed. */
    long (*receive)(void *context, uint8_t *data, size_t capacity, uint32_t timeout_ms);
    /* A clock in milliseconds that may wrap around. */
    uint32_t (*now_ms)(void *context);
} SfTransport;

struct SfClient;

/* Is told of a message; `frame` is good during the call. */
typedef void (*SfMessageHandler)(void *context, struct SfClient *client, const SfEvent *frame);

/* Says whether a response is the one waited for. */
typedef bool (*SfPredicate)(void *context, const void *response);

/* Who wants to hear of which message. Owned by the caller, linked while subscribed. */
typedef struct SfSubscription {
    uint16_t id;
    SfMessageHandler handler;
    void *context;
    struct SfSubscription *next;
} SfSubscription;

/* Sends and receives messages over a transport. */
typedef struct SfClient {
    SfTransport transport;
    SfFraming framing;
    SfHeader header; /* of the next frame; the sequence number is counted up when the framing has one */
    SfStream stream;
    uint8_t *out;
    size_t out_capacity;
    SfSubscription *subscriptions;
    SfSubscription *next; /* who is told after the one that is being told */
    struct SfPending *pending;
} SfClient;

/* A client with a buffer for what is received (see SfStream) and one for a frame to be sent. All must outlive it. */
void sf_client_init(SfClient *client, SfTransport transport, SfFraming framing, const SfLookup *lookup, uint8_t *in,
                    size_t in_capacity, uint8_t *out, size_t out_capacity);

/* Calls `handler` for every good frame with this id, until unsubscribed; several may subscribe to one id. */
void sf_client_subscribe(SfClient *client, SfSubscription *subscription, uint16_t id, SfMessageHandler handler,
                         void *context);

/* Ends a subscription, also from inside a handler; harmless when there is none. */
void sf_client_unsubscribe(SfClient *client, SfSubscription *subscription);

/* Sends a message. */
SfStatus sf_client_send(SfClient *client, const SfMessageType *type, const void *message);

/* Receives for up to `timeout_ms` once, and dispatches. SF_TIMEOUT when nothing came. */
SfStatus sf_client_poll(SfClient *client, uint32_t timeout_ms);

/* Sends a message and waits until a response of the other type comes for which `accept` (may be NULL: any) is true.
   Subscribers are served meanwhile. One request at a time: a handler must not start another. */
SfStatus sf_client_request(SfClient *client, const SfMessageType *type, const void *message,
                           const SfMessageType *response_type, void *response, SfPredicate accept,
                           void *accept_context, uint32_t timeout_ms);

#endif

/* ---- Values --------------------------------------------------------------------------------------------------- */

/* Sets bounded text (a struct of `length` and `data`) from a C string; false, and nothing changed, when it is too long. */
#define SF_SET_TEXT(field, text)                                                                                       \
    sf_set_text((field).data, sizeof((field).data), &(field).length, sizeof((field).length), (text))

/* Sets fixed text (a char array, zero-padded) from a C string; false, and nothing changed, when it is too long. */
#define SF_SET_FIXED_TEXT(field, text) sf_set_text((field), sizeof(field), NULL, 0, (text))

/* What both do; the length is of one byte or two, and may stand anywhere. */
static inline bool sf_set_text(void *data, size_t capacity, void *length, size_t length_size, const char *text) {
    const size_t bytes = strlen(text);
    const uint8_t short_length = (uint8_t)bytes;
    const uint16_t long_length = (uint16_t)bytes;
    if (bytes > capacity) {
        return false;
    }
    memset(data, 0, capacity);
    memcpy(data, text, bytes);
    if (length_size == sizeof short_length) {
        memcpy(length, &short_length, sizeof short_length);
    } else if (length_size == sizeof long_length) {
        memcpy(length, &long_length, sizeof long_length);
    }
    return true;
}

/* ---- For generated code --------------------------------------------------------------------------------------- */

/* Bytes of a payload; what lies behind them reads as the default image, and behind that as zero. */
typedef struct SfView {
    const uint8_t *data;
    size_t length;
    const uint8_t *fill;
    size_t fill_length;
} SfView;

static inline void sf_store_u8(uint8_t *out, uint8_t value) { out[0] = value; }

static inline void sf_store_u16(uint8_t *out, uint16_t value) {
    out[0] = (uint8_t)(value & 0xffu);
    out[1] = (uint8_t)(value >> 8);
}

static inline void sf_store_u32(uint8_t *out, uint32_t value) {
    sf_store_u16(out, (uint16_t)(value & 0xffffu));
    sf_store_u16(out + 2, (uint16_t)(value >> 16));
}

static inline void sf_store_u64(uint8_t *out, uint64_t value) {
    sf_store_u32(out, (uint32_t)(value & 0xffffffffu));
    sf_store_u32(out + 4, (uint32_t)(value >> 32));
}

static inline void sf_store_i8(uint8_t *out, int8_t value) { out[0] = (uint8_t)value; }
static inline void sf_store_i16(uint8_t *out, int16_t value) { sf_store_u16(out, (uint16_t)value); }
static inline void sf_store_i32(uint8_t *out, int32_t value) { sf_store_u32(out, (uint32_t)value); }
static inline void sf_store_i64(uint8_t *out, int64_t value) { sf_store_u64(out, (uint64_t)value); }
static inline void sf_store_bool(uint8_t *out, bool value) { out[0] = value ? 1 : 0; }

static inline void sf_store_f32(uint8_t *out, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    sf_store_u32(out, bits);
}

static inline void sf_store_f64(uint8_t *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sf_store_u64(out, bits);
}

/* How many bytes of fixed text stand before its first zero. */
static inline size_t sf_text_length(const char *text, size_t size) {
    size_t length = 0;
    while (length < size && text[length] != '\0') {
        length++;
    }
    return length;
}

/* Fixed text up to its first zero; `out` is zeroed already. */
static inline void sf_store_text(uint8_t *out, const char *text, size_t size) {
    memcpy(out, text, sf_text_length(text, size));
}

static inline uint16_t sf_load_u16(const uint8_t *in) { return (uint16_t)(in[0] | (uint16_t)(in[1] << 8)); }

static inline uint32_t sf_load_u32(const uint8_t *in) {
    return (uint32_t)sf_load_u16(in) | ((uint32_t)sf_load_u16(in + 2) << 16);
}

static inline uint64_t sf_load_u64(const uint8_t *in) {
    return (uint64_t)sf_load_u32(in) | ((uint64_t)sf_load_u32(in + 4) << 32);
}

static inline bool sf_view_has(const SfView *view, size_t at, size_t size) {
    return size <= view->length && at <= view->length - size;
}

static inline uint8_t sf_view_u8(const SfView *view, size_t at) {
    if (at < view->length) {
        return view->data[at];
    }
    return at < view->fill_length ? view->fill[at] : 0;
}

static inline uint16_t sf_view_u16(const SfView *view, size_t at) {
    if (sf_view_has(view, at, 2)) {
        return sf_load_u16(view->data + at);
    }
    return (uint16_t)(sf_view_u8(view, at) | (uint16_t)(sf_view_u8(view, at + 1) << 8));
}

static inline uint32_t sf_view_u32(const SfView *view, size_t at) {
    if (sf_view_has(view, at, 4)) {
        return sf_load_u32(view->data + at);
    }
    return (uint32_t)sf_view_u16(view, at) | ((uint32_t)sf_view_u16(view, at + 2) << 16);
}

static inline uint64_t sf_view_u64(const SfView *view, size_t at) {
    if (sf_view_has(view, at, 8)) {
        return sf_load_u64(view->data + at);
    }
    return (uint64_t)sf_view_u32(view, at) | ((uint64_t)sf_view_u32(view, at + 4) << 32);
}

/* Signed types of exact width are two's complement: their bytes are those of the unsigned type. */
static inline int8_t sf_view_i8(const SfView *view, size_t at) {
    uint8_t bits = sf_view_u8(view, at);
    int8_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int16_t sf_view_i16(const SfView *view, size_t at) {
    uint16_t bits = sf_view_u16(view, at);
    int16_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int32_t sf_view_i32(const SfView *view, size_t at) {
    uint32_t bits = sf_view_u32(view, at);
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int64_t sf_view_i64(const SfView *view, size_t at) {
    uint64_t bits = sf_view_u64(view, at);
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float sf_view_f32(const SfView *view, size_t at) {
    uint32_t bits = sf_view_u32(view, at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double sf_view_f64(const SfView *view, size_t at) {
    uint64_t bits = sf_view_u64(view, at);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline bool sf_view_bool(const SfView *view, size_t at) { return sf_view_u8(view, at) != 0; }

/* A count or length in `prefix` bytes, at most `limit`. */
static inline size_t sf_view_count(const SfView *view, size_t at, size_t prefix, size_t limit) {
    size_t count = prefix == 1 ? sf_view_u8(view, at) : sf_view_u16(view, at);
    return count < limit ? count : limit;
}

static inline void sf_view_bytes(const SfView *view, size_t at, void *out, size_t size) {
    uint8_t *bytes = (uint8_t *)out;
    if (size == 0) {
        return;
    }
    if (sf_view_has(view, at, size)) {
        memcpy(bytes, view->data + at, size);
        return;
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] = sf_view_u8(view, at + i);
    }
}

/* Fixed text: what stands behind its first zero becomes zero. */
static inline void sf_view_text(const SfView *view, size_t at, char *out, size_t size) {
    sf_view_bytes(view, at, out, size);
    size_t length = sf_text_length(out, size);
    memset(out + length, 0, size - length);
}

/* A view of a payload; there may be no bytes at all. */
static inline SfView sf_view_of(const uint8_t *data, size_t length, const uint8_t *fill, size_t fill_length) {
    static const uint8_t nothing = 0;
    SfView view;
    view.data = data != NULL ? data : &nothing;
    view.length = data != NULL ? length : 0;
    view.fill = fill;
    view.fill_length = fill_length;
    return view;
}

/* `size` bytes of a view, which it has, as a view with a default image of its own. */
static inline SfView sf_view_part(const SfView *view, size_t at, size_t size, const uint8_t *fill, size_t fill_length) {
    SfView part;
    part.data = view->data + at;
    part.length = size;
    part.fill = fill;
    part.fill_length = fill_length;
    return part;
}

/* Where a wire payload is written to, field after field. */
typedef struct SfWriter {
    uint8_t *out;
    size_t capacity;
    size_t length;
} SfWriter;

/* The next `size` bytes, zeroed; NULL when there is no room. */
static inline uint8_t *sf_writer_take(SfWriter *writer, size_t size) {
    uint8_t *place;
    if (writer->out == NULL || size > writer->capacity - writer->length) {
        return NULL;
    }
    place = writer->out + writer->length;
    memset(place, 0, size);
    writer->length += size;
    return place;
}

/* What was copied into a bool is 0 or 1. */
static inline void sf_fix_bool(void *flag) {
    uint8_t *byte = (uint8_t *)flag;
    *byte = *byte != 0;
}

/* True when two fixed texts are the same up to their first zero. */
static inline bool sf_text_equals(const char *a, const char *b, size_t size) {
    size_t length = sf_text_length(a, size);
    return length == sf_text_length(b, size) && memcmp(a, b, length) == 0;
}

/* Hands a status on unless it is SF_OK. */
#define SF_TRY(call)                                                                                                   \
    do {                                                                                                               \
        SfStatus sf_try_status = (call);                                                                               \
        if (sf_try_status != SF_OK) {                                                                                  \
            return sf_try_status;                                                                                      \
        }                                                                                                              \
    } while (0)

/* Makes `place` point to the next `size` bytes of a writer. */
#define SF_TAKE(place, writer, size)                                                                                   \
    do {                                                                                                               \
        (place) = sf_writer_take((writer), (size));                                                                    \
        if ((place) == NULL) {                                                                                         \
            return SF_BUFFER_TOO_SHORT;                                                                                \
        }                                                                                                              \
    } while (0)

/* Ends a decoder unless the view has these bytes. */
#define SF_NEED(view, at, size)                                                                                        \
    do {                                                                                                               \
        if (!sf_view_has((view), (at), (size))) {                                                                      \
            return SF_TRUNCATED;                                                                                       \
        }                                                                                                              \
    } while (0)

/* How many bytes of a region there are up to the last one that says something. */
static inline size_t sf_region_length(const uint8_t *region, size_t size) {
    while (size > 0 && region[size - 1] == 0) {
        size--;
    }
    return size;
}

#ifdef __cplusplus
}
#endif

#endif
