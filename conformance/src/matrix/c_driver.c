/* The part of a matrix program that does not depend on the suite; what does stands in front of it:
 * union Any, TYPES with TYPE_COUNT, CASES with CASE_COUNT, FRAMINGS with FRAMING_COUNT, and LOOKUP. */

enum { ROOM = 2 * (0xffff + SF_MAX_OVERHEAD) };

static uint8_t buffer[ROOM];
static uint8_t frame[ROOM];
static uint8_t again[ROOM];
static union Any expected_message;
static union Any found_message;

static const Type *type_of(uint16_t id) {
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (TYPES[i].type->info->id == id) {
            return &TYPES[i];
        }
    }
    return NULL;
}

static uint32_t read_u32(FILE *file, bool *end) {
    uint8_t bytes[4] = {0, 0, 0, 0};
    *end = fread(bytes, 1, 4, file) != 4;
    return sf_load_u32(bytes);
}

static int encode(const char *path) {
    FILE *out = fopen(path, "wb");
    if (out == NULL) {
        return 1;
    }
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const Case *of = &CASES[i];
        uint8_t prefix[4];
        size_t length = 0;
        SfStatus status;
        memset(&expected_message, 0x5a, sizeof expected_message);
        of->build(&expected_message);
        status = sf_write_message(of->type->type, &expected_message, of->framing, of->header, frame, sizeof frame, &length);
        sf_store_u32(prefix, status == SF_OK ? (uint32_t)length : UINT32_MAX);
        fwrite(prefix, 1, 4, out);
        if (status == SF_OK) {
            fwrite(frame, 1, length, out);
        }
    }
    return fclose(out);
}

/* What is known of one case while its readers tell. */
typedef struct Check {
    const Case *of;
    int frames;
    const char *why;
} Check;

static bool same_bytes(const Case *of) {
    size_t a = 0;
    size_t b = 0;
    SfLayout layout = sf_framing_layout(of->framing);
    return of->type->type->encode(&expected_message, layout, buffer, sizeof buffer, &a) == SF_OK &&
           of->type->type->encode(&found_message, layout, again, sizeof again, &b) == SF_OK && a == b &&
           memcmp(buffer, again, a) == 0;
}

static void check(void *context, const SfEvent *event) {
    Check *check = (Check *)context;
    const Case *of = check->of;
    if (event->kind != SF_EVENT_FRAME) {
        check->why = "damaged";
        return;
    }
    check->frames++;
    memset(&found_message, 0xa5, sizeof found_message);
    if (sf_read_message(of->type->type, &found_message, of->framing, event) != SF_OK) {
        check->why = "not decoded";
    } else if (of->nan ? !same_bytes(of) : !of->type->equals(&found_message, &expected_message)) {
        check->why = "another message";
    } else if (event->header.sequence != of->read.sequence || event->header.system != of->read.system ||
               event->header.component != of->read.component) {
        check->why = "another header";
    } else if (event->info != sf_lookup_find(&LOOKUP, event->id)) {
        check->why = "another lookup";
    }
}

static void stream_through(SfFraming framing, const uint8_t *bytes, size_t length, size_t chunk, SfEventHandler handler,
                           void *context) {
    static uint8_t room[ROOM];
    SfStream stream;
    sf_stream_init(&stream, framing, &LOOKUP, room, sizeof room);
    for (size_t at = 0; at < length; at += chunk) {
        sf_stream_feed(&stream, bytes + at, length - at < chunk ? length - at : chunk, handler, context);
    }
    sf_stream_finish(&stream, handler, context);
}

static const char *decode_case(const Case *of, size_t length) {
    Check state = {of, 0, NULL};
    SfBufferReader reader;
    SfEvent event;
    memset(&expected_message, 0x5a, sizeof expected_message);
    of->build(&expected_message);
    sf_buffer_reader_init(&reader, of->framing, &LOOKUP, frame, length);
    while (sf_buffer_reader_next(&reader, &event)) {
        check(&state, &event);
    }
    if (state.why == NULL && sf_parse_frame(of->framing, &LOOKUP, frame, length, &event) != SF_OK) {
        return "not parsed";
    }
    stream_through(of->framing, frame, length, 1, check, &state);
    stream_through(of->framing, frame, length, 7, check, &state);
    if (state.why == NULL && state.frames != 3) {
        return "not three frames";
    }
    return state.why;
}

static int decode(const char *path) {
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        return 1;
    }
    for (size_t i = 0; i < CASE_COUNT; i++) {
        bool end;
        uint32_t length = read_u32(in, &end);
        const char *why = end ? "no record" : NULL;
        if (!end && length != UINT32_MAX) {
            if (length > sizeof frame || fread(frame, 1, length, in) != length) {
                return 1;
            }
            why = decode_case(&CASES[i], length);
        }
        if (why == NULL) {
            puts("ok");
        } else {
            printf("bad %s\n", why);
        }
    }
    return fclose(in);
}

/* What was found in damaged bytes. */
typedef struct Tally {
    SfFraming framing;
    unsigned long frames;
    unsigned long bad;
    unsigned long accepted;
    uint32_t sum;
} Tally;

static void tally(void *context, const SfEvent *event) {
    Tally *tally = (Tally *)context;
    const Type *type = event->kind == SF_EVENT_FRAME ? type_of(event->id) : NULL;
    tally->frames += event->kind == SF_EVENT_FRAME;
    tally->bad += event->kind == SF_EVENT_BAD_CHECKSUM;
    if (type != NULL && sf_read_message(type->type, &found_message, tally->framing, event) == SF_OK) {
        size_t length = 0;
        (void)sf_write_message(type->type, &found_message, tally->framing, event->header, again, sizeof again, &length);
        tally->accepted++;
        for (size_t i = 0; i < length; i++) {
            tally->sum = tally->sum * 31 + again[i];
        }
        if (!type->equals(&found_message, &found_message)) {
            fputs("not equal to itself\n", stderr);
            exit(1);
        }
    }
}

static int hostile(const char *path) {
    FILE *in = fopen(path, "rb");
    Tally all = {FRAMINGS[0], 0, 0, 0, 0};
    int place;
    if (in == NULL) {
        return 1;
    }
    while ((place = fgetc(in)) != EOF) {
        bool end;
        uint32_t length = read_u32(in, &end);
        /* In memory of its own size, so that a sanitizer sees every byte too far. */
        uint8_t *bytes = (uint8_t *)malloc(length > 0 ? length : 1);
        SfFraming framing = FRAMINGS[(size_t)place < FRAMING_COUNT ? place : 0];
        Tally whole = {framing, 0, 0, 0, all.sum};
        Tally single = {framing, 0, 0, 0, all.sum};
        Tally seven = {framing, 0, 0, 0, all.sum};
        SfBufferReader reader;
        SfEvent event;
        if (end || bytes == NULL || fread(bytes, 1, length, in) != length) {
            return 1;
        }
        sf_buffer_reader_init(&reader, framing, &LOOKUP, bytes, length);
        while (sf_buffer_reader_next(&reader, &event)) {
            tally(&whole, &event);
        }
        stream_through(framing, bytes, length, 1, tally, &single);
        stream_through(framing, bytes, length, 7, tally, &seven);
        free(bytes);
        if (whole.frames != single.frames || whole.frames != seven.frames || whole.bad != single.bad ||
            whole.bad != seven.bad || whole.sum != single.sum || whole.sum != seven.sum) {
            fputs("readers disagree\n", stderr);
            return 1;
        }
        all.frames += whole.frames;
        all.bad += whole.bad;
        all.accepted += whole.accepted;
        all.sum = whole.sum;
    }
    printf("done %lu %lu %lu %lu\n", all.frames, all.bad, all.accepted, (unsigned long)all.sum);
    return fclose(in);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "encode") == 0) {
        return encode(words[2]);
    }
    if (count == 3 && strcmp(words[1], "decode") == 0) {
        return decode(words[2]);
    }
    if (count == 3 && strcmp(words[1], "hostile") == 0) {
        return hostile(words[2]);
    }
    return 2;
}
