/*
 * structframe.c: frames, checksums and readers of struct-frame. See structframe.h.
 */
#include "structframe.h"

#if defined(__SSE2__) && !defined(__OPTIMIZE_SIZE__)
#include <emmintrin.h>
#endif

/* For what must not make its caller save more registers. */
#if defined(__GNUC__)
#define SF_OUTLINE __attribute__((noinline))
#else
#define SF_OUTLINE
#endif

/* ---- Outcomes ------------------------------------------------------------------------------------------------- */

const char *sf_status_name(SfStatus status) {
    switch (status) {
    case SF_OK: return "ok";
    case SF_BUFFER_TOO_SHORT: return "buffer_too_short";
    case SF_TRUNCATED: return "truncated";
    case SF_TOO_LONG: return "too_long";
    case SF_COUNT_EXCEEDS_BOUND: return "count_exceeds_bound";
    case SF_UNKNOWN_TAG: return "unknown_tag";
    case SF_OTHER_MESSAGE: return "other_message";
    case SF_ID_TOO_LARGE: return "id_too_large";
    case SF_PAYLOAD_TOO_LONG: return "payload_too_long";
    case SF_PAYLOAD_NOT_WHOLE: return "payload_not_whole";
    case SF_NOT_SENT: return "not_sent";
    case SF_CLOSED: return "closed";
    case SF_TIMEOUT: return "timeout";
    }
    return "?";
}

#ifndef SF_SEND_ONLY
/* ---- Messages ------------------------------------------------------------------------------------------------- */

static const SfMessageInfo *find_in(const SfPackage *package, uint16_t id) {
    const SfMessageInfo *low = package->messages;
    const SfMessageInfo *high = low + package->count;
#ifndef __OPTIMIZE_SIZE__
    while (high - low > 8) {
        const SfMessageInfo *middle = low + (high - low) / 2;
        if (middle->id <= id) {
            low = middle;
        } else {
            high = middle;
        }
    }
#endif
    for (; low != high; low++) {
        if (low->id == id) {
            return low;
        }
    }
    return NULL;
}

const SfMessageInfo *sf_lookup_find(const SfLookup *lookup, uint16_t id) {
    if (lookup == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < lookup->count; i++) {
        const SfMessageInfo *info = find_in(lookup->packages[i], id);
        if (info != NULL) {
            return info;
        }
    }
    return NULL;
}
#endif

/* ---- Checksum ------------------------------------------------------------------------------------------------- */

#if !SF_SMALL_CHECKSUM
enum { LANES = 16 };

#if defined(__GNUC__)
typedef uint8_t Lanes __attribute__((vector_size(LANES)));
#else
typedef uint8_t Lanes[LANES];
#endif

/* Sums lane by lane, which are put together at the end. */
SfSums sf_sum_many(SfSums sums, const uint8_t *bytes, size_t length) {
    Lanes first = {0};
    Lanes second = {0};
    const size_t blocks = length / LANES;
    sums.b += (uint32_t)(blocks * LANES) * sums.a;
    for (size_t block = 0; block < blocks; block++, bytes += LANES) {
#if defined(__GNUC__)
        Lanes more;
        memcpy(&more, bytes, sizeof more);
        second += first;
        first += more;
#else
        for (unsigned lane = 0; lane < LANES; lane++) {
            second[lane] = (uint8_t)(second[lane] + first[lane]);
            first[lane] = (uint8_t)(first[lane] + bytes[lane]);
        }
#endif
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        sums.a += first[lane];
        sums.b += (uint32_t)LANES * second[lane] + (LANES - lane) * first[lane];
    }
    return sf_sum(sums, bytes, length % LANES);
}
#endif

uint16_t sf_checksum(SfSums sums, const uint8_t *payload, size_t length, size_t base, unsigned magic) {
    size_t first = base < length ? base : length;
    for (;;) {
        sums = sf_sum(sums, payload, first);
        if (magic > 0xffffu) {
            return sf_sums_sent(sums);
        }
        sums = sf_sum_byte(sf_sum_byte(sums, magic & 0xffu), magic >> 8);
        magic = 0x10000u; /* the seeds are in */
        payload += first;
        first = length - first;
    }
}

#ifndef SF_RECEIVE_ONLY
/* ---- Writing -------------------------------------------------------------------------------------------------- */

SfStatus sf_write_frame(SfFraming framing, SfHeader header, const SfMessageInfo *info, const uint8_t *payload,
                        size_t payload_length, uint8_t *out, size_t capacity, size_t *length) {
    const SfStatus status = sf_carries(framing, info->id, info->max_size, payload_length, capacity);
    *length = 0;
    if (status != SF_OK) {
        return status;
    }
    if (payload_length > 0) {
        memmove(out + sf_framing_header_length(framing), payload, payload_length);
    }
    *length = sf_seal(framing, header, info->id, info->base_size, info->magic[0], info->magic[1],
                      out + sf_framing_header_length(framing), payload_length, out);
    return SF_OK;
}

SfStatus sf_write_message(const SfMessageType *type, const void *message, SfFraming framing, SfHeader header,
                          uint8_t *out, size_t capacity, size_t *length) {
    const size_t head = sf_framing_header_length(framing);
    const SfMessageInfo *info = type->info;
    size_t payload_length = 0;
    SfStatus status = SF_BUFFER_TOO_SHORT;
    if (capacity >= sf_framing_overhead(framing)) {
        status = type->encode(message, sf_framing_layout(framing), out + head, capacity - head, &payload_length);
    }
    return sf_finish_frame(status, framing, header, info->id, info->max_size, info->base_size, info->magic[0],
                           info->magic[1], payload_length, out, capacity, length);
}
#endif

#ifndef SF_SEND_ONLY
/* ---- Looking at one position ---------------------------------------------------------------------------------- */

SfStatus sf_read_message(const SfMessageType *type, void *message, SfFraming framing, const SfEvent *frame) {
    if (frame->kind != SF_EVENT_FRAME || frame->id != type->info->id) {
        return SF_OTHER_MESSAGE;
    }
    return type->decode(message, sf_framing_layout(framing), frame->payload, frame->payload_length);
}

/* A header that was read. */
typedef struct Found {
    const SfMessageInfo *info;
    size_t total; /* bytes of the whole frame; for noise how many, for a short header how many are needed */
    uint16_t id;
    uint16_t length; /* of the payload */
} Found;

/* What stands at a position. */
typedef enum Look {
    LOOK_NOISE,       /* no frame begins within `total` bytes */
    LOOK_FALSE_START, /* two bytes: the first start byte, and not the second */
    LOOK_SHORT,       /* perhaps a frame; `total` bytes will tell more */
    LOOK_CLAIMS,      /* a header whose frame is not all there */
    LOOK_WHOLE        /* a header whose frame is all there */
} Look;

/* The shape of a machine's frames. */
#ifdef SF_ONLY_FRAMING
#define SHAPE(machine) ((void)(machine), sf_shape(SF_STANDARD))
#else
#define SHAPE(machine) ((machine)->shape)
#endif

/* Looks at the first of `left` bytes. */
static Look examine(const SfMachine *machine, const uint8_t *bytes, size_t left, Found *found) {
    const SfShape shape = SHAPE(machine);
    const uint8_t *field;
    unsigned id;
    size_t length;
    found->info = NULL;
    found->total = 1;
    if (left == 0) {
        return LOOK_SHORT;
    }
    if (shape.start_length > 0 && bytes[0] != shape.start[0]) {
        const uint8_t *at = (const uint8_t *)memchr(bytes, shape.start[0], left);
        found->total = at != NULL ? (size_t)(at - bytes) : left;
        return LOOK_NOISE;
    }
    if (shape.start_length > 1 && left > 1 && bytes[1] != shape.start[1]) {
        return bytes[1] == shape.start[0] ? LOOK_NOISE : LOOK_FALSE_START;
    }
    if (left < shape.header) {
        found->total = shape.header;
        return LOOK_SHORT;
    }
    field = bytes + shape.header - 1;
    id = *field;
    if (shape.package > 0) {
        id |= (unsigned)*--field << 8;
    }
    found->id = (uint16_t)id;
    found->info = sf_lookup_find(machine->lookup, found->id);
    if (shape.length_bytes > 0) {
        length = *--field;
        if (shape.length_bytes > 1) {
            length = length << 8 | *--field;
        }
        found->total = shape.header + 2u + length;
    } else if (found->info != NULL) {
        length = found->info->max_size;
        found->total = shape.header + length;
    } else {
        return LOOK_NOISE;
    }
    found->length = (uint16_t)length;
    return left < found->total ? LOOK_CLAIMS : LOOK_WHOLE;
}

/* The checksum of a whole frame. For an unknown id the seeds are zeros after the payload. */
static uint16_t checksum_of(const SfMachine *machine, const Found *found, const uint8_t *frame) {
    const SfShape shape = SHAPE(machine);
    const SfSums none = {0, 0};
    const size_t fields = (size_t)shape.header - shape.start_length;
    const SfMessageInfo *info = found->info;
    size_t base = found->length;
    unsigned magic = 0;
    if (info != NULL) {
        base = info->base_size;
        magic = (unsigned)info->magic[1] << 8 | info->magic[0];
    }
    return SF_CHECKSUM(none, frame + shape.start_length, fields + found->length, fields + base, magic);
}

/* True when a whole frame has the checksum that it should have, or none. */
static bool verify(const SfMachine *machine, const Found *found, const uint8_t *frame) {
    const uint8_t *carried = frame + found->total - 2;
    return SHAPE(machine).length_bytes == 0 || checksum_of(machine, found, frame) == sf_load_u16(carried);
}

/* ---- The state machine ---------------------------------------------------------------------------------------- */

/*
 * The primary search stands at `position` and decides about one position after the other. When a complete frame fails
 * there, it is reported, the primary goes on behind it, and its inside is searched for good frames of known messages. A
 * candidate in there that reaches beyond the failed frame cannot be judged yet; nothing waits for it. Its place stays open,
 * and it is judged when the primary next completes a frame, or at the end of the input: the earlier start wins.
 *
 * Every decision depends on bytes up to a position that the bytes themselves determine, never on how many more happen
 * to be there. That is why every way of splitting the input gives the same events.
 */

#ifndef SF_NO_COUNTERS
static void count(uint32_t *counter, size_t more) {
    *counter = more > UINT32_MAX - *counter ? UINT32_MAX : (uint32_t)(*counter + more);
}
#define COUNT(machine, what, more) count(&(machine)->counters.what, (more))
#else
#define COUNT(machine, what, more) ((void)0)
#endif

static void machine_reset(SfMachine *machine, size_t at);

static void machine_init(SfMachine *machine, SfFraming framing, const SfLookup *lookup, size_t capacity) {
    /* Member by member, but for the counters: memset() of a small library goes byte by byte. */
#ifndef SF_ONLY_FRAMING
    machine->shape = sf_shape(framing);
#else
    (void)framing;
#endif
    machine->lookup = lookup;
    machine->capacity = capacity;
    machine->last = NULL;
    machine->base = 0;
    machine->sequence = 0;
#ifndef SF_NO_SEARCH
    machine->open_start = 0;
    machine->open_end = 0;
#endif
#ifndef SF_NO_COUNTERS
    memset(&machine->counters, 0, sizeof machine->counters);
#endif
    machine_reset(machine, 0);
}

static void machine_reset(SfMachine *machine, size_t at) {
    machine->position = at;
    machine->noise = 0;
    machine->false_bytes = 0;
    machine->need = at + 1;
    machine->oversized_end = 0;
    machine->compared = false;
    machine->has_sequence = false;
#ifndef SF_NO_SEARCH
    machine->has_open = false;
    machine->has_rescan = false;
#endif
}

/* The first byte that is still needed. */
static size_t retain_from(const SfMachine *machine) {
#ifndef SF_NO_SEARCH
    if (machine->has_open && machine->open_start < machine->position) {
        return machine->open_start;
    }
#endif
    return machine->position;
}

/* Bytes before the first one that is needed are gone. */
static void advance(SfMachine *machine, size_t gone) {
    machine->base += gone;
    machine->position -= gone;
    machine->need -= gone;
    machine->oversized_end = machine->oversized_end > gone ? machine->oversized_end - gone : 0;
#ifndef SF_NO_SEARCH
    machine->open_start -= gone;
    machine->open_end -= gone;
#endif
}

static void event_of(const SfMachine *machine, SfEvent *event, SfEventKind kind, size_t end, size_t length) {
    event->kind = kind;
    event->end = machine->base + end;
    event->start = event->end - length;
    event->id = 0;
    event->header.sequence = 0;
    event->header.system = 0;
    event->header.component = 0;
    event->payload_length = 0;
    event->payload = NULL;
    event->info = NULL;
    event->recovered = false;
    memset(event->expected, 0, sizeof event->expected);
    memset(event->found, 0, sizeof event->found);
}

/* What a frame says besides its payload. */
static void tell(const SfMachine *machine, const Found *found, const uint8_t *frame, SfEvent *event) {
    const SfShape shape = SHAPE(machine);
    const uint8_t *field = frame + shape.start_length;
    event->id = found->id;
    event->payload_length = found->length;
    if (shape.sequence > 0) {
        event->header.sequence = *field++;
    }
    if (shape.system > 0) {
        event->header.system = field[0];
        event->header.component = field[1];
    }
}

static void count_gap(SfMachine *machine, uint8_t sequence) {
    if (machine->has_sequence && sequence != (uint8_t)(machine->sequence + 1u)) {
        COUNT(machine, seq_gaps, 1);
    }
    machine->has_sequence = true;
    machine->sequence = sequence;
}

static void deliver(SfMachine *machine, const uint8_t *bytes, size_t at, const Found *found, bool recovered,
                    SfEvent *event) {
    event_of(machine, event, SF_EVENT_FRAME, at + found->total, found->total);
    tell(machine, found, bytes + at, event);
    event->payload = bytes + at + SHAPE(machine).header;
    event->info = found->info;
    event->recovered = recovered;
    COUNT(machine, frames, 1);
    if (found->info == NULL) {
        COUNT(machine, unknown_ids, 1);
    }
    if (SHAPE(machine).sequence > 0) {
        count_gap(machine, event->header.sequence);
    }
}

#ifndef SF_NO_SEARCH
/* The next good frame inside failed bytes. Only messages that are known count: with an unknown id, six bytes such as
   90 71 00 00 00 00 would pass. */
static bool search(SfMachine *machine, const uint8_t *bytes, size_t length, size_t *where, Found *found) {
    const size_t end = machine->rescan_end < length ? machine->rescan_end : length;
    while (machine->rescan_at < machine->rescan_to && machine->rescan_at < end) {
        const size_t at = machine->rescan_at;
        size_t step = 1;
        bool unresolved = false;
        const Look look = examine(machine, bytes + at, end - at, found);
        if (look == LOOK_NOISE) {
            step = found->total;
        } else if (look != LOOK_FALSE_START && found->total <= machine->capacity) {
            if (look != LOOK_WHOLE) {
                unresolved = look == LOOK_SHORT || found->info != NULL;
            } else if (found->info != NULL && verify(machine, found, bytes + at)) {
                machine->rescan_at = at + found->total;
                /* What began before it and reaches beyond would overlap it. */
                machine->has_open = false;
                *where = at;
                return true;
            }
        }
        if (unresolved && machine->rescan_remembers && !machine->has_open) {
            machine->has_open = true;
            machine->open_start = at;
            machine->open_end = machine->rescan_to;
        }
        machine->rescan_at = at + step;
    }
    return false;
}

static void rescan(SfMachine *machine, size_t from, size_t to, size_t end, bool remember) {
    machine->has_rescan = true;
    machine->rescan_at = from;
    machine->rescan_to = to;
    machine->rescan_end = end;
    machine->rescan_remembers = remember;
}

/* Judges the candidate that is still open, against bytes up to `end`. */
static void rescan_open(SfMachine *machine, size_t end) {
    machine->has_open = false;
    rescan(machine, machine->open_start, machine->open_end, end, false);
}

/* Keeps no more than the reader can hold together with the frame at the primary position. */
static void forget_far_candidates(SfMachine *machine, size_t total) {
    const size_t header = SHAPE(machine).header;
    const size_t end = machine->position + (total > header ? total : header);
    if (machine->has_open && end > machine->capacity) {
        if (machine->open_start < end - machine->capacity) {
            machine->open_start = end - machine->capacity;
        }
        machine->has_open = machine->open_start < machine->open_end;
    }
}
#endif

/* The bytes since the last event, if any. */
static bool skipped(SfMachine *machine, SfEvent *event) {
    const size_t noise = machine->noise;
    if (noise == 0) {
        return false;
    }
    COUNT(machine, noise_bytes, noise - machine->false_bytes);
    event_of(machine, event, SF_EVENT_SKIPPED, machine->position, noise);
    machine->noise = 0;
    machine->false_bytes = 0;
    return true;
}

/* Goes on after failed bytes, once they have been searched. */
SF_OUTLINE static void fail(SfMachine *machine, size_t end, bool remember) {
    COUNT(machine, failed_bytes, end - machine->position);
#ifndef SF_NO_SEARCH
    {
        const size_t from = machine->has_open ? machine->open_start : machine->position + 1;
        machine->has_open = false;
        /* Without a checksum nothing found inside failed bytes could be trusted. */
        if (SHAPE(machine).length_bytes > 0) {
            rescan(machine, from, end, end, remember);
        }
    }
#else
    (void)remember;
#endif
    machine->position = end;
    machine->compared = false;
}

/* The next event; false when that takes more bytes than there are. */
SF_OUTLINE static bool step(SfMachine *machine, const uint8_t *bytes, size_t length, bool more, SfEvent *event) {
    for (;;) {
        Found found;
        Look look;
        size_t over; /* bytes that begin no frame */
        size_t end;
#ifndef SF_NO_SEARCH
        if (machine->has_rescan) {
            size_t at = 0;
            if (search(machine, bytes, length, &at, &found)) {
                end = at + found.total;
                if (end + machine->noise > machine->position) {
                    machine->noise = end < machine->position ? machine->position - end : 0;
                    machine->false_bytes = 0;
                }
                if (end > machine->position) {
                    machine->position = end;
                    machine->compared = false;
                }
                COUNT(machine, recovered, 1);
                deliver(machine, bytes, at, &found, true, event);
                return true;
            }
            machine->has_rescan = false;
        }
#endif
        if (sizeof(size_t) < 8 && machine->noise > SIZE_MAX / 4) {
            /* Before its length is more than a small machine can count. */
            return skipped(machine, event);
        }
        over = length - machine->position;
        if (more && over < SHAPE(machine).header) {
            /* No frame is shorter than a header: nothing is decided before there is one. */
            look = LOOK_SHORT;
            found.total = SHAPE(machine).header;
        } else {
            look = examine(machine, bytes + machine->position, over, &found);
        }
        end = machine->position + found.total;
        over = 0;
        if (look == LOOK_NOISE) {
            over = found.total;
        } else if (look != LOOK_SHORT) {
            if (look == LOOK_FALSE_START) {
                over = 2;
            } else if (found.total > machine->capacity) {
                /* A frame that the reader could never hold. */
                machine->oversized_end = end > machine->oversized_end ? end : machine->oversized_end;
                over = 1;
            } else if (found.info == NULL) {
                /* Inside such a frame zeros in its payload must not pass for a frame of an unknown message. */
                over = machine->position < machine->oversized_end;
            } else if (SHAPE(machine).length_bytes > 0 && !machine->compared &&
                       (found.length < found.info->min_size || found.length > found.info->max_size)) {
                machine->compared = true;
                COUNT(machine, len_errors, 1);
            }
            if (over > 0) {
                COUNT(machine, sync_recoveries, 1);
                COUNT(machine, failed_bytes, over);
                machine->false_bytes += over;
            }
        }
        if (over > 0) {
            machine->position += over;
            machine->noise += over;
            machine->compared = false;
            continue;
        }
#ifndef SF_NO_SEARCH
        if (machine->has_open) {
            forget_far_candidates(machine, found.total);
        }
#endif
        if (look == LOOK_WHOLE) {
            const uint8_t *frame = bytes + machine->position;
            const uint16_t checksum = SHAPE(machine).length_bytes > 0 ? checksum_of(machine, &found, frame) : 0;
            const bool good = SHAPE(machine).length_bytes == 0 || checksum == sf_load_u16(frame + found.total - 2);
#ifndef SF_NO_SEARCH
            if (good && machine->has_open) {
                rescan_open(machine, end);
                continue;
            }
#endif
            if (skipped(machine, event)) {
                return true;
            }
            if (good) {
                const size_t at = machine->position;
                machine->position = end;
                machine->compared = false;
                deliver(machine, bytes, at, &found, false, event);
                return true;
            }
            event_of(machine, event, SF_EVENT_BAD_CHECKSUM, end, found.total);
            tell(machine, &found, frame, event);
            sf_store_u16(event->expected, checksum);
            memcpy(event->found, frame + found.total - 2, 2);
            COUNT(machine, crc_failures, 1);
            COUNT(machine, sync_recoveries, 1);
            fail(machine, end, true);
            return true;
        }
        machine->need = end;
        if (more) {
            return false;
        }
        /* The end of the input: what is left over. */
        if (skipped(machine, event)) {
            return true;
        }
        if (machine->position < length) {
            event_of(machine, event, SF_EVENT_TRUNCATED, length, length - machine->position);
            fail(machine, length, false);
            return true;
        }
#ifndef SF_NO_SEARCH
        if (machine->has_open) {
            rescan_open(machine, length);
            continue;
        }
#endif
        return false;
    }
}

#ifndef __OPTIMIZE_SIZE__
/* What the short path comes to. */
typedef enum Row {
    ROW_FRAME, /* a good frame */
    ROW_WAITS, /* more bytes are needed */
    ROW_ENDS   /* something else; nothing was decided */
} Row;

#if defined(__SSE2__)
/* 16 to 64 more bytes. */
SF_INLINE SfSums sum_blocks(SfSums sums, const uint8_t *bytes, size_t length) {
    static const uint8_t tail[32] = {0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
                                     0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const __m128i zero = _mm_setzero_si128();
    const __m128i low = _mm_set_epi16(9, 10, 11, 12, 13, 14, 15, 16);
    const __m128i high = _mm_set_epi16(1, 2, 3, 4, 5, 6, 7, 8);
    const size_t rest = length % 16u;
    const uint8_t *const end = bytes + length;
    __m128i weighted = zero;
    for (;;) {
        __m128i block;
        __m128i plain;
        uint32_t count = 16;
        if (bytes + 16 <= end) {
            block = _mm_loadu_si128((const __m128i *)(const void *)bytes);
        } else if (bytes != end) {
            /* The last block overlaps the one before, whose bytes do not count again. */
            count = (uint32_t)rest;
            block = _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)(end - 16)),
                                  _mm_loadu_si128((const __m128i *)(const void *)(tail + rest)));
        } else {
            break;
        }
        bytes += count;
        plain = _mm_sad_epu8(block, zero);
        weighted = _mm_add_epi32(weighted, _mm_madd_epi16(_mm_unpacklo_epi8(block, zero), low));
        weighted = _mm_add_epi32(weighted, _mm_madd_epi16(_mm_unpackhi_epi8(block, zero), high));
        sums.b += count * sums.a;
        sums.a += (uint32_t)_mm_cvtsi128_si32(_mm_add_epi64(plain, _mm_srli_si128(plain, 8)));
    }
    weighted = _mm_add_epi32(weighted, _mm_srli_si128(weighted, 8));
    weighted = _mm_add_epi32(weighted, _mm_srli_si128(weighted, 4));
    sums.b += (uint32_t)_mm_cvtsi128_si32(weighted);
    return sums;
}
#endif

/* As sf_checksum(); most payloads are short and have no extensions. */
SF_INLINE uint16_t row_checksum(const uint8_t *bytes, size_t length, size_t base, unsigned magic) {
    SfSums sums = {0, 0};
#if defined(__SSE2__)
    if (base >= length && length >= 16 && length <= 64) {
        sums = sum_blocks(sums, bytes, length);
        return sf_sums_sent(sf_sum_byte(sf_sum_byte(sums, magic & 0xffu), magic >> 8));
    }
#endif
    return sf_checksum(sums, bytes, length, base, magic);
}

/* The short path: a good frame of a known message, after another one. Only for framings with two start bytes and a length;
   inline, so that all about the framing is known when compiling. */
SF_INLINE Row next_in_row(SfMachine *machine, SfPayloadKind kind, const uint8_t *bytes, size_t length, bool more,
                          SfEvent *event) {
    const SfFraming framing = {SF_HEADER_BASIC, kind};
    const SfShape shape = sf_shape(framing);
    const size_t fields = shape.header - 2u;
    const size_t left = length - machine->position;
    const uint8_t *const frame = bytes + machine->position;
    const SfMessageInfo *info = machine->last;
    size_t payload;
    size_t total;
    unsigned id;
    if (left < shape.header) {
        machine->need = machine->position + shape.header;
        return more ? ROW_WAITS : ROW_ENDS;
    }
    if (frame[0] != shape.start[0] || frame[1] != shape.start[1]) {
        return ROW_ENDS;
    }
    id = frame[shape.header - 1];
    payload = frame[shape.header - 2 - shape.package];
    if (shape.length_bytes > 1) {
        payload = payload << 8 | frame[shape.header - 3 - shape.package];
    }
    if (shape.package > 0) {
        id |= (unsigned)frame[shape.header - 2] << 8;
    }
    if (info == NULL || info->id != id) {
        info = sf_lookup_find(machine->lookup, (uint16_t)id);
        if (info == NULL) {
            return ROW_ENDS;
        }
        machine->last = info;
    }
    total = shape.header + 2u + payload;
    if (payload < info->min_size || payload > info->max_size || total > machine->capacity) {
        return ROW_ENDS;
    }
    if (total > left) {
        machine->need = machine->position + total;
        return more ? ROW_WAITS : ROW_ENDS;
    }
    if (row_checksum(frame + 2, fields + payload, fields + info->base_size,
                     (unsigned)info->magic[1] << 8 | info->magic[0]) != sf_load_u16(frame + total - 2)) {
        return ROW_ENDS;
    }
    event->kind = SF_EVENT_FRAME;
    event->start = machine->base + machine->position;
    event->end = event->start + total;
    event->id = (uint16_t)id;
    event->header.sequence = shape.sequence > 0 ? frame[2] : 0;
    event->header.system = shape.system > 0 ? frame[2 + shape.sequence] : 0;
    event->header.component = shape.system > 0 ? frame[3 + shape.sequence] : 0;
    event->payload_length = payload;
    event->payload = frame + shape.header;
    event->info = info;
    event->recovered = false;
    memset(event->expected, 0, sizeof event->expected);
    memset(event->found, 0, sizeof event->found);
    machine->position += total;
    COUNT(machine, frames, 1);
    if (shape.sequence > 0) {
        count_gap(machine, frame[2]);
    }
    return ROW_FRAME;
}

/* True when all bytes before the position belong to events. */
SF_INLINE bool is_calm(const SfMachine *machine) {
#ifndef SF_NO_SEARCH
    if (machine->has_open || machine->has_rescan) {
        return false;
    }
#endif
    return machine->noise == 0 && !machine->compared;
}

SF_INLINE bool next_event(SfMachine *machine, const uint8_t *bytes, size_t length, bool more, SfEvent *event) {
    Row row = ROW_ENDS;
    if (is_calm(machine) && SHAPE(machine).start_length == 2) {
        switch (SHAPE(machine).start[1] - 0x70) {
        case SF_PAYLOAD_DEFAULT:
            row = next_in_row(machine, SF_PAYLOAD_DEFAULT, bytes, length, more, event);
            break;
        case SF_PAYLOAD_EXTENDED:
            row = next_in_row(machine, SF_PAYLOAD_EXTENDED, bytes, length, more, event);
            break;
        case SF_PAYLOAD_EXTENDED_MULTI_SYSTEM_STREAM:
            row = next_in_row(machine, SF_PAYLOAD_EXTENDED_MULTI_SYSTEM_STREAM, bytes, length, more, event);
            break;
        default: break;
        }
    }
    return row == ROW_FRAME || (row == ROW_ENDS && step(machine, bytes, length, more, event));
}
#else
#define next_event step
#endif

/* ---- Readers -------------------------------------------------------------------------------------------------- */

void sf_buffer_reader_init(SfBufferReader *reader, SfFraming framing, const SfLookup *lookup, const uint8_t *data,
                           size_t length) {
    static const uint8_t nothing = 0;
    machine_init(&reader->machine, framing, lookup, SIZE_MAX);
    reader->data = data != NULL ? data : &nothing;
    reader->length = data != NULL ? length : 0;
}

bool sf_buffer_reader_next(SfBufferReader *reader, SfEvent *event) {
    return next_event(&reader->machine, reader->data, reader->length, false, event);
}

bool sf_buffer_reader_next_frame(SfBufferReader *reader, SfEvent *frame) {
    while (next_event(&reader->machine, reader->data, reader->length, false, frame)) {
        if (frame->kind == SF_EVENT_FRAME) {
            return true;
        }
    }
    return false;
}

SfStatus sf_parse_frame(SfFraming framing, const SfLookup *lookup, const uint8_t *data, size_t length,
                        SfEvent *frame) {
    SfMachine machine;
    Found found;
    Look look;
    if (data == NULL || length == 0) {
        return SF_TRUNCATED;
    }
    machine_init(&machine, framing, lookup, SIZE_MAX);
    look = examine(&machine, data, length, &found);
    if (look == LOOK_SHORT || look == LOOK_CLAIMS) {
        return SF_TRUNCATED;
    }
    if (look != LOOK_WHOLE || !verify(&machine, &found, data)) {
        return SF_OTHER_MESSAGE;
    }
    deliver(&machine, data, 0, &found, false, frame);
    return SF_OK;
}

void sf_stream_init(SfStream *stream, SfFraming framing, const SfLookup *lookup, uint8_t *buffer, size_t capacity) {
    stream->buffer = buffer;
    stream->filled = 0;
    machine_init(&stream->machine, framing, lookup, capacity);
}

static void tell_all(SfStream *stream, const uint8_t *bytes, size_t length, bool more, SfEventHandler handler,
                     void *context) {
    SfEvent event;
    while (next_event(&stream->machine, bytes, length, more, &event)) {
        if (handler != NULL) {
            handler(context, &event);
        }
    }
}

#ifndef __OPTIMIZE_SIZE__
/* Takes the last byte of a header that announces the same message as the frame before: all that follows is to wait for its
   frame. False when the byte must be looked at. */
static SF_OUTLINE bool header_arrives(SfStream *stream, uint8_t byte) {
    SfMachine *const machine = &stream->machine;
    const SfMessageInfo *const info = machine->last;
    const SfShape shape = SHAPE(machine);
    const uint8_t *const frame = stream->buffer;
    size_t payload;
    unsigned id = byte;
    if (info == NULL || stream->filled + 1u != shape.header || machine->position != 0 || !is_calm(machine) ||
        shape.start_length != 2 || shape.length_bytes == 0 || frame[0] != shape.start[0] ||
        frame[1] != shape.start[1]) {
        return false;
    }
    payload = frame[shape.header - 2u - shape.package];
    if (shape.length_bytes > 1) {
        payload = payload << 8 | frame[shape.header - 3u - shape.package];
    }
    if (shape.package > 0) {
        id |= (unsigned)frame[shape.header - 2u] << 8;
    }
    if (id != info->id || payload < info->min_size || payload > info->max_size ||
        shape.header + 2u + payload > machine->capacity) {
        return false;
    }
    stream->buffer[stream->filled++] = byte;
    machine->need = shape.header + 2u + payload;
    return true;
}
#endif

size_t sf_stream_read(SfStream *stream, const uint8_t *chunk, size_t length, SfEventHandler handler, void *context) {
    SfMachine *const machine = &stream->machine;
#ifndef __OPTIMIZE_SIZE__
    if (length == 1 && header_arrives(stream, *chunk)) {
        return stream->filled;
    }
#endif
    if (machine->capacity < SHAPE(machine).header) {
        /* Not even a header has room: all is noise, and nothing is ever waited for. */
        machine->base += length;
        machine->noise += length;
        tell_all(stream, chunk, 0, true, handler, context);
        machine->need = 0;
        return stream->filled;
    }
    while (length > 0) {
        const uint8_t *bytes = chunk;
        size_t left = length;
        size_t gone;
        if (stream->filled > 0) {
            /* What is missing of what is waited for; that it fits into the buffer, the machine has seen to. */
            left = machine->need - stream->filled;
            left = left < length ? left : length;
            memcpy(stream->buffer + stream->filled, chunk, left);
            chunk += left;
            length -= left;
            left += stream->filled;
            stream->filled = left;
            if (left < machine->need) {
                return left;
            }
            bytes = stream->buffer;
        } else {
            length = 0;
        }
        tell_all(stream, bytes, left, true, handler, context);
        gone = retain_from(machine);
        left -= gone;
        if (left > 0) {
            memmove(stream->buffer, bytes + gone, left);
        }
        stream->filled = left;
        advance(machine, gone);
    }
    return stream->filled;
}

void sf_stream_finish(SfStream *stream, SfEventHandler handler, void *context) {
    tell_all(stream, stream->buffer, stream->filled, false, handler, context);
    sf_stream_reset(stream);
}

void sf_stream_reset(SfStream *stream) {
    machine_reset(&stream->machine, 0);
    stream->machine.base += stream->filled;
    stream->filled = 0;
}

size_t sf_stream_partial(const SfStream *stream) {
    size_t at = stream->machine.position;
    Found found;
    while (at < stream->filled) {
        const Look look = examine(&stream->machine, stream->buffer + at, stream->filled - at, &found);
        if (look > LOOK_FALSE_START) {
            break;
        }
        at += look == LOOK_NOISE ? found.total : 2;
    }
    return at < stream->filled ? stream->filled - at : 0;
}
#endif

#if !defined(SF_SEND_ONLY) && !defined(SF_RECEIVE_ONLY)
/* ---- Client --------------------------------------------------------------------------------------------------- */

/* A request that waits for its response. */
struct SfPending {
    const SfMessageType *type;
    void *response;
    SfPredicate accept;
    void *context;
    bool done;
};

void sf_client_init(SfClient *client, SfTransport transport, SfFraming framing, const SfLookup *lookup, uint8_t *in,
                    size_t in_capacity, uint8_t *out, size_t out_capacity) {
    memset(client, 0, sizeof *client);
    client->transport = transport;
    client->framing = framing;
    client->out = out;
    client->out_capacity = out_capacity;
    sf_stream_init(&client->stream, framing, lookup, in, in_capacity);
}

void sf_client_subscribe(SfClient *client, SfSubscription *subscription, uint16_t id, SfMessageHandler handler,
                         void *context) {
    sf_client_unsubscribe(client, subscription);
    subscription->id = id;
    subscription->handler = handler;
    subscription->context = context;
    subscription->next = client->subscriptions;
    client->subscriptions = subscription;
}

void sf_client_unsubscribe(SfClient *client, SfSubscription *subscription) {
    SfSubscription **link = &client->subscriptions;
    if (client->next == subscription) {
        client->next = subscription->next;
    }
    while (*link != NULL) {
        if (*link == subscription) {
            *link = subscription->next;
            return;
        }
        link = &(*link)->next;
    }
}

SfStatus sf_client_send(SfClient *client, const SfMessageType *type, const void *message) {
    size_t length = 0;
    SfStatus status = sf_write_message(type, message, client->framing, client->header, client->out,
                                       client->out_capacity, &length);
    if (status != SF_OK) {
        return status;
    }
    if (!client->transport.send(client->transport.context, client->out, length)) {
        return SF_NOT_SENT;
    }
    client->header.sequence = (uint8_t)(client->header.sequence + 1u);
    return SF_OK;
}

static void dispatch(void *context, const SfEvent *event) {
    SfClient *client = (SfClient *)context;
    struct SfPending *pending = client->pending;
    SfSubscription *subscription;
    if (event->kind != SF_EVENT_FRAME) {
        return;
    }
    /* A message that cannot be decoded is no response; the request goes on waiting. */
    if (pending != NULL && !pending->done && event->id == pending->type->info->id &&
        sf_read_message(pending->type, pending->response, client->framing, event) == SF_OK) {
        pending->done = pending->accept == NULL || pending->accept(pending->context, pending->response);
    }
    /* A handler may end subscriptions, its own and others, and begin new ones. */
    client->next = client->subscriptions;
    while ((subscription = client->next) != NULL) {
        client->next = subscription->next;
        if (subscription->id == event->id) {
            subscription->handler(subscription->context, client, event);
        }
    }
}

SfStatus sf_client_poll(SfClient *client, uint32_t timeout_ms) {
    uint8_t chunk[256];
    long received = client->transport.receive(client->transport.context, chunk, sizeof chunk, timeout_ms);
    if (received < 0) {
        return SF_CLOSED;
    }
    if (received == 0) {
        return SF_TIMEOUT;
    }
    sf_stream_feed(&client->stream, chunk, (size_t)received < sizeof chunk ? (size_t)received : sizeof chunk, dispatch,
                   client);
    return SF_OK;
}

SfStatus sf_client_request(SfClient *client, const SfMessageType *type, const void *message,
                           const SfMessageType *response_type, void *response, SfPredicate accept,
                           void *accept_context, uint32_t timeout_ms) {
    struct SfPending pending = {response_type, response, accept, accept_context, false};
    uint32_t begin = client->transport.now_ms(client->transport.context);
    SfStatus status = sf_client_send(client, type, message);
    if (status != SF_OK) {
        return status;
    }
    client->pending = &pending;
    for (;;) {
        uint32_t passed = client->transport.now_ms(client->transport.context) - begin;
        if (pending.done) {
            status = SF_OK;
            break;
        }
        if (passed >= timeout_ms) {
            status = SF_TIMEOUT;
            break;
        }
        status = sf_client_poll(client, timeout_ms - passed);
        if (status == SF_CLOSED) {
            break;
        }
    }
    client->pending = NULL;
    return status;
}
#endif
