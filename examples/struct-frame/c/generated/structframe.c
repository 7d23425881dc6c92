/*
 * structframe.c: frames, checksums and readers of struct-frame. See structframe.h.
 */
#include "structframe.h"

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

/* ---- Framings ------------------------------------------------------------------------------------------------- */

const SfFraming SF_STANDARD = {SF_HEADER_BASIC, SF_PAYLOAD_DEFAULT};
const SfFraming SF_SENSOR = {SF_HEADER_TINY, SF_PAYLOAD_MINIMAL};
const SfFraming SF_IPC = {SF_HEADER_NONE, SF_PAYLOAD_MINIMAL};
const SfFraming SF_BULK = {SF_HEADER_BASIC, SF_PAYLOAD_EXTENDED};
const SfFraming SF_NETWORK = {SF_HEADER_BASIC, SF_PAYLOAD_EXTENDED_MULTI_SYSTEM_STREAM};

/* What stands between start bytes and payload, in wire order: SEQ, SYS and COMP, length, PKG, and always MSG. */
typedef struct Row {
    bool sequence;
    bool system;
    uint8_t length_bytes;
    bool package;
} Row;

static const Row ROWS[9] = {
    {false, false, 0, false}, /* Minimal */
    {false, false, 1, false}, /* Default */
    {false, false, 1, true},  /* ExtendedMsgIds */
    {false, false, 2, false}, /* ExtendedLength */
    {false, false, 2, true},  /* Extended */
    {false, true, 1, false},  /* SysComp */
    {true, false, 1, false},  /* Seq */
    {true, true, 1, false},   /* MultiSystemStream */
    {true, true, 2, true},    /* ExtendedMultiSystemStream */
};

static const Row *row_of(SfFraming framing) {
    unsigned kind = (unsigned)framing.payload;
    return &ROWS[kind < 9 ? kind : 0];
}

static bool has_length(SfFraming framing) { return row_of(framing)->length_bytes > 0; }

static size_t start_length(SfFraming framing) {
    switch (framing.header) {
    case SF_HEADER_TINY: return 1;
    case SF_HEADER_BASIC: return 2;
    case SF_HEADER_NONE: break;
    }
    return 0;
}

static void start_bytes(SfFraming framing, uint8_t start[2]) {
    uint8_t kind = (uint8_t)(0x70u + (unsigned)framing.payload);
    start[0] = framing.header == SF_HEADER_BASIC ? 0x90 : kind;
    start[1] = kind;
}

static size_t fields_length(SfFraming framing) {
    const Row *row = row_of(framing);
    return (size_t)row->sequence + 2 * (size_t)row->system + row->length_bytes + (size_t)row->package + 1;
}

static size_t trailer_length(SfFraming framing) { return has_length(framing) ? 2 : 0; }

SfLayout sf_framing_layout(SfFraming framing) { return has_length(framing) ? SF_LAYOUT_WIRE : SF_LAYOUT_FIXED; }

size_t sf_framing_header_length(SfFraming framing) { return start_length(framing) + fields_length(framing); }

size_t sf_framing_overhead(SfFraming framing) { return sf_framing_header_length(framing) + trailer_length(framing); }

size_t sf_framing_max_payload(SfFraming framing) { return row_of(framing)->length_bytes == 1 ? 0xff : 0xffff; }

/* ---- Messages ------------------------------------------------------------------------------------------------- */

static const SfMessageInfo *find_in(const SfPackage *package, uint16_t id) {
    size_t low = 0;
    size_t high = package->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (package->messages[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < package->count && package->messages[low].id == id ? &package->messages[low] : NULL;
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

/* ---- Checksum ------------------------------------------------------------------------------------------------- */

/* Two sums modulo 256: of the bytes, and of the first sum after each byte. */
typedef struct Sums {
    uint8_t a;
    uint8_t b;
} Sums;

enum { LANES = 16 };

/* Sums lane by lane, which compilers turn into vector code; the lanes are put together at the end. */
static void roll(Sums *sums, const uint8_t *bytes, size_t length) {
    uint32_t a = sums->a;
    uint32_t b = sums->b;
    if (length >= 4 * LANES) {
        uint8_t first[LANES] = {0};
        uint8_t second[LANES] = {0};
        size_t blocks = length / LANES;
        b += (uint32_t)(blocks * LANES) * a;
        for (size_t block = 0; block < blocks; block++, bytes += LANES) {
            for (unsigned lane = 0; lane < LANES; lane++) {
                second[lane] = (uint8_t)(second[lane] + first[lane]);
                first[lane] = (uint8_t)(first[lane] + bytes[lane]);
            }
        }
        for (unsigned lane = 0; lane < LANES; lane++) {
            a += first[lane];
            b += (uint32_t)LANES * second[lane] + (LANES - lane) * first[lane];
        }
        length -= blocks * LANES;
    }
    for (size_t i = 0; i < length; i++) {
        a += bytes[i];
        b += a;
    }
    sums->a = (uint8_t)(a & 0xffu);
    sums->b = (uint8_t)(b & 0xffu);
}

/* The checksum over what follows the start bytes, with the seeds after the base part. For an unknown id the seeds are
   zeros behind the payload. */
static void checksum(const uint8_t *fields, size_t fields_len, const uint8_t *payload, size_t length,
                     const SfMessageInfo *info, uint8_t out[2]) {
    static const uint8_t zeros[2] = {0, 0};
    size_t base = info != NULL && info->base_size < length ? info->base_size : length;
    Sums sums = {0, 0};
    roll(&sums, fields, fields_len);
    roll(&sums, payload, base);
    roll(&sums, info != NULL ? info->magic : zeros, 2);
    roll(&sums, payload + base, length - base);
    out[0] = sums.a;
    out[1] = sums.b;
}

/* ---- Writing -------------------------------------------------------------------------------------------------- */

static SfStatus check(SfFraming framing, const SfMessageInfo *info, size_t length) {
    if (info->id > 0xff && !row_of(framing)->package) {
        return SF_ID_TOO_LARGE;
    }
    if (!has_length(framing) && length != info->max_size) {
        return SF_PAYLOAD_NOT_WHOLE;
    }
    return length <= sf_framing_max_payload(framing) ? SF_OK : SF_PAYLOAD_TOO_LONG;
}

/* Writes a frame around a payload that stands at its place already. */
static SfStatus seal(SfFraming framing, SfHeader header, const SfMessageInfo *info, size_t payload_length, uint8_t *out,
                     size_t capacity, size_t *length) {
    SfStatus status = check(framing, info, payload_length);
    const Row *row = row_of(framing);
    size_t head = start_length(framing);
    size_t at = head;
    uint8_t start[2];
    if (status != SF_OK) {
        return status;
    }
    if (capacity < sf_framing_overhead(framing) + payload_length) {
        return SF_BUFFER_TOO_SHORT;
    }
    start_bytes(framing, start);
    memcpy(out, start, head);
    if (row->sequence) {
        out[at++] = header.sequence;
    }
    if (row->system) {
        out[at++] = header.system;
        out[at++] = header.component;
    }
    if (row->length_bytes > 0) {
        out[at++] = (uint8_t)(payload_length & 0xffu);
    }
    if (row->length_bytes > 1) {
        out[at++] = (uint8_t)(payload_length >> 8);
    }
    if (row->package) {
        out[at++] = (uint8_t)(info->id >> 8);
    }
    out[at++] = (uint8_t)(info->id & 0xffu);
    if (has_length(framing)) {
        checksum(out + head, at - head, out + at, payload_length, info, out + at + payload_length);
    }
    *length = sf_framing_overhead(framing) + payload_length;
    return SF_OK;
}

SfStatus sf_write_frame(SfFraming framing, SfHeader header, const SfMessageInfo *info, const uint8_t *payload,
                        size_t payload_length, uint8_t *out, size_t capacity, size_t *length) {
    SfStatus status = check(framing, info, payload_length);
    *length = 0;
    if (status != SF_OK) {
        return status;
    }
    if (capacity < sf_framing_overhead(framing) + payload_length) {
        return SF_BUFFER_TOO_SHORT;
    }
    if (payload_length > 0) {
        memmove(out + sf_framing_header_length(framing), payload, payload_length);
    }
    return seal(framing, header, info, payload_length, out, capacity, length);
}

SfStatus sf_write_message(const SfMessageType *type, const void *message, SfFraming framing, SfHeader header,
                          uint8_t *out, size_t capacity, size_t *length) {
    size_t head = sf_framing_header_length(framing);
    size_t payload_length = 0;
    SfStatus status;
    *length = 0;
    if (capacity < sf_framing_overhead(framing)) {
        return SF_BUFFER_TOO_SHORT;
    }
    status = type->encode(message, sf_framing_layout(framing), out + head, capacity - head, &payload_length);
    return status == SF_OK ? seal(framing, header, type->info, payload_length, out, capacity, length) : status;
}

SfStatus sf_read_message(const SfMessageType *type, void *message, SfFraming framing, const SfEvent *frame) {
    if (frame->kind != SF_EVENT_FRAME || frame->id != type->info->id) {
        return SF_OTHER_MESSAGE;
    }
    return type->decode(message, sf_framing_layout(framing), frame->payload, frame->payload_length);
}

/* ---- Looking at one position ---------------------------------------------------------------------------------- */

/* Bytes of the input that are at hand. */
typedef struct Window {
    const uint8_t *bytes;
    size_t length;
    uint64_t base; /* absolute position of the first */
} Window;

/* Bytes of a window from one position up to another, or to its end. */
typedef struct Part {
    const uint8_t *bytes;
    size_t length;
} Part;

static uint64_t window_end(Window window) { return window.base + window.length; }

static size_t window_place(Window window, uint64_t at) {
    uint64_t place = at > window.base ? at - window.base : 0;
    return place < window.length ? (size_t)place : window.length;
}

static Part window_part(Window window, uint64_t from, uint64_t to) {
    size_t begin = window_place(window, from);
    size_t end = window_place(window, to);
    Part part = {window.bytes, 0};
    if (begin < end) {
        part.bytes = window.bytes + begin;
        part.length = end - begin;
    }
    return part;
}

/* A header that was read. */
typedef struct Found {
    SfHeader header;
    uint16_t length; /* zero where the framing has no length */
    uint16_t id;
    const SfMessageInfo *info;
    size_t total; /* bytes of the whole frame */
} Found;

/* What stands at a position. */
typedef enum LookKind {
    LOOK_NOISE,       /* no frame begins within `length` bytes */
    LOOK_FALSE_START, /* two bytes: the first start byte, and not the second */
    LOOK_SHORT,       /* perhaps a frame; `length` bytes will tell more */
    LOOK_CLAIMS,      /* a header whose frame is not all there */
    LOOK_WHOLE        /* a header whose frame is all there */
} LookKind;

typedef struct Look {
    LookKind kind;
    size_t length;
    Found found;
} Look;

static void read_fields(SfFraming framing, const uint8_t *bytes, Found *found) {
    const Row *row = row_of(framing);
    uint16_t package = 0;
    if (row->sequence) {
        found->header.sequence = *bytes++;
    }
    if (row->system) {
        found->header.system = *bytes++;
        found->header.component = *bytes++;
    }
    if (row->length_bytes == 1) {
        found->length = *bytes++;
    } else if (row->length_bytes == 2) {
        found->length = sf_load_u16(bytes);
        bytes += 2;
    }
    if (row->package) {
        package = *bytes++;
    }
    found->id = (uint16_t)((unsigned)package << 8 | *bytes);
}

/* Looks at the first position of `part`, of which there is at least one. */
static void examine(SfFraming framing, const SfLookup *lookup, Part part, Look *look) {
    uint8_t start[2];
    size_t length;
    memset(look, 0, sizeof *look);
    start_bytes(framing, start);
    if (framing.header != SF_HEADER_NONE && part.bytes[0] != start[0]) {
        const uint8_t *at = (const uint8_t *)memchr(part.bytes, start[0], part.length);
        look->kind = LOOK_NOISE;
        look->length = at != NULL ? (size_t)(at - part.bytes) : part.length;
        return;
    }
    if (framing.header == SF_HEADER_BASIC) {
        if (part.length < 2) {
            look->kind = LOOK_SHORT;
            look->length = 2;
            return;
        }
        if (part.bytes[1] != start[1]) {
            look->kind = part.bytes[1] == start[0] ? LOOK_NOISE : LOOK_FALSE_START;
            look->length = 1;
            return;
        }
    }
    if (part.length < sf_framing_header_length(framing)) {
        look->kind = LOOK_SHORT;
        look->length = sf_framing_header_length(framing);
        return;
    }
    read_fields(framing, part.bytes + start_length(framing), &look->found);
    look->found.info = sf_lookup_find(lookup, look->found.id);
    if (has_length(framing)) {
        length = look->found.length;
    } else if (look->found.info != NULL) {
        length = look->found.info->max_size;
    } else {
        look->kind = LOOK_NOISE;
        look->length = 1;
        return;
    }
    look->found.total = sf_framing_overhead(framing) + length;
    look->kind = part.length < look->found.total ? LOOK_CLAIMS : LOOK_WHOLE;
}

/* Compares checksums of a whole frame. */
static bool verify(SfFraming framing, const Found *found, const uint8_t *frame, uint8_t expected[2],
                   uint8_t carried[2]) {
    size_t head = start_length(framing);
    size_t header = sf_framing_header_length(framing);
    if (!has_length(framing)) {
        return true;
    }
    memcpy(carried, frame + found->total - 2, 2);
    checksum(frame + head, header - head, frame + header, found->total - header - 2, found->info, expected);
    return memcmp(expected, carried, 2) == 0;
}

/* ---- The state machine ---------------------------------------------------------------------------------------- */

/*
 * All positions are absolute. The primary search stands at `position` and decides about one position after the other.
 * When a complete frame fails there, it is reported, the primary goes on behind it, and its inside is searched for good
 * frames of known messages. A candidate in there that reaches beyond the failed frame cannot be judged yet; nothing
 * waits for it. Its place stays open, and it is judged when the primary next completes a frame, or at the end of the
 * input: the earlier start wins.
 *
 * Every decision depends on bytes up to a position that the bytes themselves determine, never on how many more happen
 * to be there. That is why every way of splitting the input gives the same events.
 */

static void count(uint32_t *counter, uint64_t more) {
    *counter = more > UINT32_MAX - *counter ? UINT32_MAX : (uint32_t)(*counter + more);
}

static void machine_init(SfMachine *machine, SfFraming framing, const SfLookup *lookup, uint64_t capacity) {
    memset(machine, 0, sizeof *machine);
    machine->framing = framing;
    machine->lookup = lookup;
    machine->capacity = capacity;
    machine->need = 1;
}

static void machine_reset(SfMachine *machine, uint64_t at) {
    machine->position = at;
    machine->run = at;
    machine->false_bytes = 0;
    machine->need = at + 1;
    machine->oversized_end = at;
    machine->has_open = false;
    machine->has_rescan = false;
    machine->has_compared = false;
    machine->has_sequence = false;
}

/* The first byte that is still needed. */
static uint64_t retain_from(const SfMachine *machine) {
    return machine->has_open && machine->open.start < machine->position ? machine->open.start : machine->position;
}

static void event_of(SfEvent *event, SfEventKind kind, uint64_t start, uint64_t end) {
    memset(event, 0, sizeof *event);
    event->kind = kind;
    event->start = start;
    event->end = end;
}

static void deliver(SfMachine *machine, Window window, uint64_t at, const Found *found, bool recovered,
                    SfEvent *event) {
    Part frame = window_part(window, at, at + found->total);
    event_of(event, SF_EVENT_FRAME, at, at + found->total);
    event->id = found->id;
    event->header = found->header;
    event->payload = frame.bytes + sf_framing_header_length(machine->framing);
    event->payload_length = found->total - sf_framing_overhead(machine->framing);
    event->info = found->info;
    event->recovered = recovered;
    count(&machine->counters.frames, 1);
    count(&machine->counters.unknown_ids, found->info == NULL);
    if (row_of(machine->framing)->sequence) {
        uint8_t expected = (uint8_t)(machine->sequence + 1u);
        count(&machine->counters.seq_gaps, machine->has_sequence && found->header.sequence != expected);
        machine->has_sequence = true;
        machine->sequence = found->header.sequence;
    }
}

/* The next good frame inside failed bytes. Only messages that are known count: with an unknown id, six bytes such as
   90 71 00 00 00 00 would pass. */
static bool search(SfMachine *machine, Window window, uint64_t *where, Found *result) {
    SfSpan *starts = &machine->rescan_starts;
    while (starts->start < starts->end) {
        uint64_t at = starts->start;
        uint64_t advance = 1;
        bool unresolved = false;
        Part part = window_part(window, at, machine->rescan_end);
        Look look;
        if (part.length == 0) {
            break;
        }
        examine(machine->framing, machine->lookup, part, &look);
        switch (look.kind) {
        case LOOK_NOISE: advance = look.length; break;
        case LOOK_FALSE_START: break;
        case LOOK_SHORT: unresolved = look.length <= machine->capacity; break;
        case LOOK_CLAIMS: unresolved = look.found.info != NULL && look.found.total <= machine->capacity; break;
        case LOOK_WHOLE:
            if (look.found.info != NULL && look.found.total <= machine->capacity) {
                uint8_t expected[2];
                uint8_t carried[2];
                if (verify(machine->framing, &look.found, part.bytes, expected, carried)) {
                    starts->start = at + look.found.total;
                    /* What began before it and reaches beyond would overlap it. */
                    machine->has_open = false;
                    *where = at;
                    *result = look.found;
                    return true;
                }
            }
            break;
        }
        if (unresolved && machine->rescan_remembers && !machine->has_open) {
            machine->has_open = true;
            machine->open.start = at;
            machine->open.end = starts->end;
        }
        starts->start = at + advance;
    }
    return false;
}

/* The bytes since the last event, if any. */
static bool skipped(SfMachine *machine, SfEvent *event) {
    uint64_t length = machine->position > machine->run ? machine->position - machine->run : 0;
    if (length == 0) {
        return false;
    }
    count(&machine->counters.noise_bytes, length > machine->false_bytes ? length - machine->false_bytes : 0);
    event_of(event, SF_EVENT_SKIPPED, machine->run, machine->position);
    machine->run = machine->position;
    machine->false_bytes = 0;
    return true;
}

static void rescan(SfMachine *machine, uint64_t from, uint64_t to, uint64_t end, bool remember) {
    machine->has_rescan = true;
    machine->rescan_starts.start = from;
    machine->rescan_starts.end = to;
    machine->rescan_end = end;
    machine->rescan_remembers = remember;
}

/* Goes on behind failed bytes, after a search inside them. */
static void fail(SfMachine *machine, uint64_t start, uint64_t end, bool remember) {
    uint64_t from = machine->has_open ? machine->open.start : start + 1;
    machine->has_open = false;
    /* Without a checksum nothing found inside failed bytes could be trusted. */
    if (has_length(machine->framing)) {
        rescan(machine, from, end, end, remember);
    }
    machine->position = end;
    machine->run = end;
}

static void false_start(SfMachine *machine, uint64_t length) {
    count(&machine->counters.sync_recoveries, 1);
    count(&machine->counters.failed_bytes, length);
    machine->false_bytes += length;
    machine->position += length;
}

static void compare_length(SfMachine *machine, const Found *found) {
    if (!has_length(machine->framing) || (machine->has_compared && machine->compared == machine->position)) {
        return;
    }
    machine->has_compared = true;
    machine->compared = machine->position;
    count(&machine->counters.len_errors, found->info != NULL && (found->length < found->info->min_size ||
                                                                 found->length > found->info->max_size));
}

/* Keeps no more than the reader can hold together with the frame at the primary position. */
static void forget_far_candidates(SfMachine *machine, size_t total) {
    size_t header = sf_framing_header_length(machine->framing);
    uint64_t end = machine->position + (total > header ? total : header);
    uint64_t first = end > machine->capacity ? end - machine->capacity : 0;
    if (machine->has_open) {
        if (machine->open.start < first) {
            machine->open.start = first;
        }
        machine->has_open = machine->open.start < machine->open.end;
    }
}

/* More bytes are needed: at the end of the input, what is left over. True when `event` is set. */
static bool wait(SfMachine *machine, Window window, bool more, SfEvent *event) {
    uint64_t end = window_end(window);
    if (more) {
        return false;
    }
    if (skipped(machine, event)) {
        return true;
    }
    if (machine->position < end) {
        count(&machine->counters.failed_bytes, end - machine->position);
        event_of(event, SF_EVENT_TRUNCATED, machine->position, end);
        fail(machine, machine->position, end, false);
        return true;
    }
    if (machine->has_open) {
        machine->has_open = false;
        rescan(machine, machine->open.start, machine->open.end, end, false);
    }
    return false;
}

/* Decides about a complete frame; false when something else must be looked at first. */
static bool whole(SfMachine *machine, Window window, const Found *found, SfEvent *event) {
    uint64_t at = machine->position;
    uint64_t end = at + found->total;
    uint8_t expected[2] = {0, 0};
    uint8_t carried[2] = {0, 0};
    if (verify(machine->framing, found, window_part(window, at, end).bytes, expected, carried)) {
        if (machine->has_open) {
            machine->has_open = false;
            rescan(machine, machine->open.start, machine->open.end, end, false);
            return false;
        }
        if (skipped(machine, event)) {
            return true;
        }
        machine->position = end;
        machine->run = end;
        deliver(machine, window, at, found, false, event);
        return true;
    }
    if (skipped(machine, event)) {
        return true;
    }
    count(&machine->counters.crc_failures, 1);
    count(&machine->counters.sync_recoveries, 1);
    count(&machine->counters.failed_bytes, found->total);
    fail(machine, at, end, true);
    event_of(event, SF_EVENT_BAD_CHECKSUM, at, end);
    event->id = found->id;
    event->header = found->header;
    event->payload_length = found->length;
    memcpy(event->expected, expected, 2);
    memcpy(event->found, carried, 2);
    return true;
}

/* The next event; false when that takes more bytes than the window has. */
static bool step(SfMachine *machine, Window window, bool more, SfEvent *event) {
    for (;;) {
        Look look;
        Part part;
        if (machine->has_rescan) {
            Found found;
            uint64_t at = 0;
            if (search(machine, window, &at, &found)) {
                uint64_t end = at + found.total;
                machine->position = end > machine->position ? end : machine->position;
                if (end > machine->run) {
                    machine->run = end;
                    machine->false_bytes = 0;
                }
                count(&machine->counters.recovered, 1);
                deliver(machine, window, at, &found, true, event);
                return true;
            }
            machine->has_rescan = false;
        }
        part = window_part(window, machine->position, UINT64_MAX);
        if (part.length == 0) {
            memset(&look, 0, sizeof look);
            look.kind = LOOK_SHORT;
            look.length = 1;
        } else if (machine->capacity < sf_framing_header_length(machine->framing)) {
            memset(&look, 0, sizeof look);
            look.kind = LOOK_NOISE;
            look.length = part.length;
        } else {
            examine(machine->framing, machine->lookup, part, &look);
        }
        if (look.kind == LOOK_NOISE) {
            machine->position += look.length;
            continue;
        }
        if (look.kind == LOOK_FALSE_START) {
            false_start(machine, 2);
            continue;
        }
        if (look.kind != LOOK_SHORT) {
            if (look.found.total > machine->capacity) {
                /* A frame that the reader could never hold. */
                uint64_t end = machine->position + look.found.total;
                machine->oversized_end = end > machine->oversized_end ? end : machine->oversized_end;
                false_start(machine, 1);
                continue;
            }
            if (look.found.info == NULL && machine->position < machine->oversized_end) {
                /* Inside such a frame zeros in its payload must not pass for a frame of an unknown message. */
                false_start(machine, 1);
                continue;
            }
            compare_length(machine, &look.found);
        }
        if (look.kind == LOOK_WHOLE) {
            forget_far_candidates(machine, look.found.total);
            if (whole(machine, window, &look.found, event)) {
                return true;
            }
            continue;
        }
        {
            size_t total = look.kind == LOOK_SHORT ? look.length : look.found.total;
            forget_far_candidates(machine, total);
            machine->need = machine->position + total;
            if (wait(machine, window, more, event)) {
                return true;
            }
            if (!machine->has_rescan) {
                return false;
            }
        }
    }
}

/* ---- Readers -------------------------------------------------------------------------------------------------- */

void sf_buffer_reader_init(SfBufferReader *reader, SfFraming framing, const SfLookup *lookup, const uint8_t *data,
                           size_t length) {
    machine_init(&reader->machine, framing, lookup, UINT64_MAX);
    reader->data = data;
    reader->length = data != NULL ? length : 0;
}

bool sf_buffer_reader_next(SfBufferReader *reader, SfEvent *event) {
    Window window = {reader->data, reader->length, 0};
    return step(&reader->machine, window, false, event);
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
    Window window = {data, data != NULL ? length : 0, 0};
    Part part = {window.bytes, window.length};
    Look look;
    uint8_t expected[2];
    uint8_t carried[2];
    if (window.length == 0) {
        return SF_TRUNCATED;
    }
    examine(framing, lookup, part, &look);
    if (look.kind == LOOK_SHORT || look.kind == LOOK_CLAIMS) {
        return SF_TRUNCATED;
    }
    if (look.kind != LOOK_WHOLE || !verify(framing, &look.found, data, expected, carried)) {
        return SF_OTHER_MESSAGE;
    }
    machine_init(&machine, framing, lookup, UINT64_MAX);
    deliver(&machine, window, 0, &look.found, false, frame);
    return SF_OK;
}

void sf_stream_init(SfStream *stream, SfFraming framing, const SfLookup *lookup, uint8_t *buffer, size_t capacity) {
    machine_init(&stream->machine, framing, lookup, capacity);
    stream->buffer = buffer;
    stream->capacity = capacity;
    stream->filled = 0;
    stream->base = 0;
}

/* Moves up to `want` bytes from the chunk to the buffer. */
static size_t append(SfStream *stream, const uint8_t *bytes, size_t length, uint64_t want) {
    size_t taken = want < length ? (size_t)want : length;
    if (taken > stream->capacity - stream->filled) {
        uint64_t unneeded = retain_from(&stream->machine) - stream->base;
        size_t drop = unneeded < stream->filled ? (size_t)unneeded : stream->filled;
        memmove(stream->buffer, stream->buffer + drop, stream->filled - drop);
        stream->filled -= drop;
        stream->base += drop;
        if (taken > stream->capacity - stream->filled) {
            taken = stream->capacity - stream->filled;
        }
    }
    if (taken > 0) {
        memcpy(stream->buffer + stream->filled, bytes, taken);
        stream->filled += taken;
    }
    return taken;
}

static void tell_all(SfStream *stream, Window window, bool more, SfEventHandler handler, void *context) {
    SfEvent event;
    while (step(&stream->machine, window, more, &event)) {
        if (handler != NULL) {
            handler(context, &event);
        }
    }
}

static Window buffered(const SfStream *stream) {
    Window window = {stream->buffer, stream->filled, stream->base};
    return window;
}

void sf_stream_feed(SfStream *stream, const uint8_t *chunk, size_t length, SfEventHandler handler, void *context) {
    size_t used = 0;
    if (chunk == NULL || length == 0) {
        return;
    }
    while (stream->filled > 0) {
        uint64_t end = stream->base + stream->filled;
        uint64_t missing = stream->machine.need > end ? stream->machine.need - end : 0;
        size_t taken = append(stream, chunk + used, length - used, missing);
        Window window;
        uint64_t kept;
        used += taken;
        if (taken < missing) {
            if (used == length) {
                return;
            }
            /* The machine asks for no more than the buffer holds; should it ever, the reader goes on all the same. */
            machine_reset(&stream->machine, stream->base + stream->filled);
        }
        window = buffered(stream);
        tell_all(stream, window, true, handler, context);
        /* As soon as nothing before this chunk is needed, the chunk itself is read. */
        kept = window_end(window) - retain_from(&stream->machine);
        if (kept <= used) {
            stream->filled = 0;
            stream->base = retain_from(&stream->machine);
            used -= (size_t)kept;
        }
    }
    {
        Window window = {chunk + used, length - used, stream->base};
        uint64_t done;
        tell_all(stream, window, true, handler, context);
        done = retain_from(&stream->machine) - stream->base;
        stream->base += done;
        used += done < length - used ? (size_t)done : length - used;
        append(stream, chunk + used, length - used, length - used);
    }
}

void sf_stream_finish(SfStream *stream, SfEventHandler handler, void *context) {
    tell_all(stream, buffered(stream), false, handler, context);
    sf_stream_reset(stream);
}

void sf_stream_reset(SfStream *stream) {
    stream->base += stream->filled;
    stream->filled = 0;
    machine_reset(&stream->machine, stream->base);
}

size_t sf_stream_partial(const SfStream *stream) {
    uint64_t end = stream->base + stream->filled;
    return end > stream->machine.position ? (size_t)(end - stream->machine.position) : 0;
}

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
