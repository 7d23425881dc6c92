/*
 * structframe.c: frames, checksums and readers of struct-frame. See structframe.h.
 */
#include "structframe.h"

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
SfSums sf_sums_of_many(SfSums sums, const uint8_t *bytes, size_t length) {
    uint32_t a = (uint32_t)sums & 0xffu;
    uint32_t b = (uint32_t)sums >> 8;
    Lanes first = {0};
    Lanes second = {0};
    const size_t blocks = length / LANES;
    b += (uint32_t)(blocks * LANES) * a;
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
        a += first[lane];
        b += (uint32_t)LANES * second[lane] + (LANES - lane) * first[lane];
    }
    for (size_t i = blocks * LANES; i < length; i++) {
        a += *bytes++;
        b += a;
    }
    return (SfSums)((b & 0xffu) << 8 | (a & 0xffu));
}
#endif

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
    *length = sf_seal(framing, header, info->id, info->base_size, info->magic[0], info->magic[1], payload_length, out);
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
    if (left == 0) {
        found->total = 1;
        return LOOK_SHORT;
    }
    if (shape.start_length > 0 && bytes[0] != shape.start[0]) {
        const uint8_t *at = (const uint8_t *)memchr(bytes, shape.start[0], left);
        found->total = at != NULL ? (size_t)(at - bytes) : left;
        return LOOK_NOISE;
    }
    if (shape.start_length > 1) {
        if (left < 2) {
            found->total = 2;
            return LOOK_SHORT;
        }
        if (bytes[1] != shape.start[1]) {
            found->total = 1;
            return bytes[1] == shape.start[0] ? LOOK_NOISE : LOOK_FALSE_START;
        }
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
        found->total = 1;
        return LOOK_NOISE;
    }
    found->length = (uint16_t)length;
    return left < found->total ? LOOK_CLAIMS : LOOK_WHOLE;
}

/* The checksum of a whole frame. For an unknown id the seeds are zeros behind the payload. */
static SfSums sums_of(const SfMachine *machine, const Found *found, const uint8_t *frame) {
    const SfShape shape = SHAPE(machine);
    const size_t fields = (size_t)shape.header - shape.start_length;
    const SfMessageInfo *info = found->info;
    return sf_seeded_sums(frame + shape.start_length, fields + found->length,
                          fields + (info != NULL ? info->base_size : found->length), info != NULL ? info->magic[0] : 0,
                          info != NULL ? info->magic[1] : 0);
}

/* True when a whole frame has the checksum that it should have, or none. */
static bool verify(const SfMachine *machine, const Found *found, const uint8_t *frame) {
    const uint8_t *carried = frame + found->total - 2;
    return SHAPE(machine).length_bytes == 0 || sums_of(machine, found, frame) == sf_load_u16(carried);
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

static void machine_init(SfMachine *machine, SfFraming framing, const SfLookup *lookup, size_t capacity) {
    memset(machine, 0, sizeof *machine);
#ifndef SF_ONLY_FRAMING
    machine->shape = sf_shape(framing);
#else
    (void)framing;
#endif
    machine->lookup = lookup;
    machine->capacity = capacity;
    machine->need = 1;
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

/* The primary search goes on elsewhere; `noise` more bytes belong to no frame. */
static void go_on(SfMachine *machine, size_t position, size_t noise) {
    machine->position = position;
    machine->noise = noise;
    machine->compared = false;
}

static void event_of(const SfMachine *machine, SfEvent *event, SfEventKind kind, size_t end, size_t length) {
    memset(event, 0, sizeof *event);
    event->kind = kind;
    event->end = machine->base + end;
    event->start = event->end - length;
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
        const uint8_t sequence = event->header.sequence;
        if (machine->has_sequence && sequence != (uint8_t)(machine->sequence + 1u)) {
            COUNT(machine, seq_gaps, 1);
        }
        machine->has_sequence = true;
        machine->sequence = sequence;
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

/* Goes on behind failed bytes, after a search inside them. */
static void fail(SfMachine *machine, size_t end, bool remember) {
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
    go_on(machine, end, 0);
}

static void false_start(SfMachine *machine, size_t length) {
    COUNT(machine, sync_recoveries, 1);
    COUNT(machine, failed_bytes, length);
    machine->false_bytes += length;
    go_on(machine, machine->position + length, machine->noise + length);
}

/* The next event; false when that takes more bytes than there are. */
static bool step(SfMachine *machine, const uint8_t *bytes, size_t length, bool more, SfEvent *event) {
    for (;;) {
        Found found;
        Look look;
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
                    go_on(machine, end, machine->noise);
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
        look = examine(machine, bytes + machine->position, length - machine->position, &found);
        if (machine->position < length && machine->capacity < SHAPE(machine).header) {
            look = LOOK_NOISE;
            found.total = length - machine->position;
        }
        if (look == LOOK_NOISE) {
            go_on(machine, machine->position + found.total, machine->noise + found.total);
            continue;
        }
        if (look == LOOK_FALSE_START) {
            false_start(machine, 2);
            continue;
        }
        end = machine->position + found.total;
        if (look != LOOK_SHORT) {
            if (found.total > machine->capacity) {
                /* A frame that the reader could never hold. */
                machine->oversized_end = end > machine->oversized_end ? end : machine->oversized_end;
                false_start(machine, 1);
                continue;
            }
            if (found.info == NULL && machine->position < machine->oversized_end) {
                /* Inside such a frame zeros in its payload must not pass for a frame of an unknown message. */
                false_start(machine, 1);
                continue;
            }
            if (!machine->compared) {
                machine->compared = true;
                if (SHAPE(machine).length_bytes > 0 && found.info != NULL &&
                    (found.length < found.info->min_size || found.length > found.info->max_size)) {
                    COUNT(machine, len_errors, 1);
                }
            }
        }
#ifndef SF_NO_SEARCH
        forget_far_candidates(machine, found.total);
#endif
        if (look == LOOK_WHOLE) {
            const uint8_t *frame = bytes + machine->position;
            const SfSums sums = sums_of(machine, &found, frame);
            const bool good = SHAPE(machine).length_bytes == 0 || sums == sf_load_u16(frame + found.total - 2);
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
                go_on(machine, end, 0);
                deliver(machine, bytes, at, &found, false, event);
                return true;
            }
            event_of(machine, event, SF_EVENT_BAD_CHECKSUM, end, found.total);
            tell(machine, &found, frame, event);
            event->expected[0] = (uint8_t)sums;
            event->expected[1] = (uint8_t)(sums >> 8);
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

/* ---- Readers -------------------------------------------------------------------------------------------------- */

void sf_buffer_reader_init(SfBufferReader *reader, SfFraming framing, const SfLookup *lookup, const uint8_t *data,
                           size_t length) {
    static const uint8_t nothing = 0;
    machine_init(&reader->machine, framing, lookup, SIZE_MAX);
    reader->data = data != NULL ? data : &nothing;
    reader->length = data != NULL ? length : 0;
}

bool sf_buffer_reader_next(SfBufferReader *reader, SfEvent *event) {
    return step(&reader->machine, reader->data, reader->length, false, event);
}

bool sf_buffer_reader_next_frame(SfBufferReader *reader, SfEvent *frame) {
    while (sf_buffer_reader_next(reader, frame)) {
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

/* Moves up to `want` bytes from the chunk to the buffer. */
static size_t append(SfStream *stream, const uint8_t *bytes, size_t length, size_t want) {
    size_t taken = want < length ? want : length;
    if (taken > stream->machine.capacity - stream->filled) {
        const size_t unneeded = retain_from(&stream->machine);
        const size_t drop = unneeded < stream->filled ? unneeded : stream->filled;
        stream->filled -= drop;
        memmove(stream->buffer, stream->buffer + drop, stream->filled);
        advance(&stream->machine, drop);
        if (taken > stream->machine.capacity - stream->filled) {
            taken = stream->machine.capacity - stream->filled;
        }
    }
    if (taken > 0) {
        memcpy(stream->buffer + stream->filled, bytes, taken);
        stream->filled += taken;
    }
    return taken;
}

static void tell_all(SfStream *stream, const uint8_t *bytes, size_t length, bool more, SfEventHandler handler,
                     void *context) {
    SfEvent event;
    while (step(&stream->machine, bytes, length, more, &event)) {
        if (handler != NULL) {
            handler(context, &event);
        }
    }
}

/* Reads a chunk that completes something, or all of which is not needed. */
SF_OUTLINE static void read_chunk(SfStream *stream, const uint8_t *chunk, size_t length, SfEventHandler handler,
                                  void *context) {
    SfMachine *const machine = &stream->machine;
    size_t used = 0; /* bytes of this chunk that went to the buffer */
    size_t gone;
    while (stream->filled > 0) {
        const size_t missing = machine->need > stream->filled ? machine->need - stream->filled : 0;
        const size_t taken = append(stream, chunk, length, missing);
        chunk += taken;
        length -= taken;
        used += taken;
        if (taken < missing) {
            if (length == 0) {
                return;
            }
            /* The machine asks for no more than the buffer holds; should it ever, the reader goes on all the same. */
            machine_reset(machine, stream->filled);
        }
        tell_all(stream, stream->buffer, stream->filled, true, handler, context);
        gone = retain_from(machine);
        /* Whatever is still needed came with this chunk: the chunk itself is read. */
        if (stream->filled - gone <= used) {
            chunk -= stream->filled - gone;
            length += stream->filled - gone;
            stream->filled = 0;
            advance(machine, gone);
        }
    }
    tell_all(stream, chunk, length, true, handler, context);
    gone = retain_from(machine);
    gone = gone < length ? gone : length;
    advance(machine, gone);
    (void)append(stream, chunk + gone, length - gone, length - gone);
}

void sf_stream_feed(SfStream *stream, const uint8_t *chunk, size_t length, SfEventHandler handler, void *context) {
    const size_t filled = stream->filled;
    if (length == 1 && filled > 0 && filled + 1 < stream->machine.need && filled < stream->machine.capacity) {
        /* Bytes that come one by one: most of them complete nothing. */
        stream->buffer[filled] = *chunk;
        stream->filled = filled + 1;
    } else if (length > 0) {
        read_chunk(stream, chunk, length, handler, context);
    }
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
    return stream->filled > stream->machine.position ? stream->filled - stream->machine.position : 0;
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
