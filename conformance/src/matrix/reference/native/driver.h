/* The part of a C program that does not depend on the group; `lookup` and the cases stand behind it. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_profiles.h"

/* A message type. */
typedef struct Kind {
    uint16_t id;
    size_t size; /* of the struct */
    size_t (*serialize)(const void *message, uint8_t *out);
    size_t (*deserialize)(const uint8_t *in, size_t length, void *message);
} Kind;

/* One message in one framing. */
typedef struct Case {
    const Kind *kind;
    void (*build)(void *room);
    int header;
    int payload;
    uint8_t sequence, system, component;
} Case;

extern const Case CASES[];
extern const size_t CASE_COUNT;
bool lookup(uint16_t id, message_info_t *info);

enum { ROOM = 140000 };

static double real(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static profile_config_t config_of(const Case *of) {
    const header_config_t headers[] = {HEADER_NONE_CONFIG, HEADER_TINY_CONFIG, HEADER_BASIC_CONFIG};
    const payload_config_t payloads[] = {
        PAYLOAD_MINIMAL_CONFIG,          PAYLOAD_DEFAULT_CONFIG,  PAYLOAD_EXTENDED_MSG_IDS_CONFIG,
        PAYLOAD_EXTENDED_LENGTH_CONFIG,  PAYLOAD_EXTENDED_CONFIG, PAYLOAD_SYS_COMP_CONFIG,
        PAYLOAD_SEQ_CONFIG,              PAYLOAD_MULTI_SYSTEM_STREAM_CONFIG,
        PAYLOAD_EXTENDED_MULTI_SYSTEM_STREAM_CONFIG,
    };
    profile_config_t config = {headers[of->header], payloads[of->payload]};
    return config;
}

static int encode(FILE *out) {
    static uint8_t message[ROOM], payload[ROOM], frame[ROOM];
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const Case *of = &CASES[i];
        const profile_config_t config = config_of(of);
        message_info_t info;
        size_t length;
        if (!lookup(of->kind->id, &info)) {
            return 1;
        }
        memset(message, 0, sizeof message);
        memset(payload, 0, sizeof payload);
        of->build(message);
        if (config.payload.has_length) {
            length = of->kind->serialize(message, payload);
        } else {
            /* The struct is the fixed layout; it lacks the zeros of prefixed unions at the end. */
            length = info.size;
            memcpy(payload, message, of->kind->size < length ? of->kind->size : length);
        }
        length = profile_encode_message(&config, frame, sizeof frame, of->sequence, of->system, of->component,
                                        (uint8_t)(of->kind->id >> 8), (uint8_t)of->kind->id, payload, length,
                                        info.base_size, info.magic1, info.magic2);
        uint32_t size = length == 0 ? UINT32_MAX : (uint32_t)length;
        fwrite(&size, 1, 4, out);
        fwrite(frame, 1, length, out);
    }
    return 0;
}

static uint8_t expected[ROOM], found[ROOM];

/* These readers tell nothing of SEQ, SYS and COMP. */
static const char *check(const Case *of, const profile_config_t *config, const frame_msg_info_t *frame) {
    if (frame->msg_id != of->kind->id) {
        return "another id";
    }
    memset(found, 0, of->kind->size);
    if (config->payload.has_length) {
        if (of->kind->deserialize(frame->msg_data, frame->msg_len, found) == 0 && frame->msg_len > 0) {
            return "not decoded";
        }
    } else {
        memcpy(found, frame->msg_data, frame->msg_len < of->kind->size ? frame->msg_len : of->kind->size);
    }
    return memcmp(found, expected, of->kind->size) == 0 ? NULL : "another message";
}

static const char *decode_case(const Case *of, const uint8_t *bytes, size_t length) {
    static uint8_t partial[ROOM];
    const profile_config_t config = config_of(of);
    const char *why = NULL;
    int frames = 0;
    frame_msg_info_t frame;
    memset(expected, 0, sizeof expected);
    of->build(expected);

    buffer_reader_t buffer;
    buffer_reader_init(&buffer, &config, bytes, length, lookup);
    for (int step = 0; step < 3 && buffer_reader_has_more(&buffer); step++) {
        frame = buffer_reader_next(&buffer);
        if (!frame.valid) {
            return "whole: not a frame";
        }
        why = check(of, &config, &frame);
        frames++;
    }
    accumulating_reader_t reader;
    accumulating_reader_init(&reader, &config, partial, sizeof partial, lookup);
    for (size_t at = 0; at < length; at++) {
        frame = accumulating_reader_push_byte(&reader, bytes[at]);
        if (frame.valid) {
            why = why != NULL ? why : check(of, &config, &frame);
            frames++;
        }
    }
    accumulating_reader_init(&reader, &config, partial, sizeof partial, lookup);
    for (size_t at = 0; at < length; at += 7) {
        accumulating_reader_add_data(&reader, bytes + at, length - at < 7 ? length - at : 7);
        for (frame = accumulating_reader_next(&reader); frame.valid; frame = accumulating_reader_next(&reader)) {
            why = why != NULL ? why : check(of, &config, &frame);
            frames++;
        }
    }
    return why == NULL && frames != 3 ? "not three frames" : why;
}

static int decode(FILE *in) {
    static uint8_t frame[ROOM];
    for (size_t i = 0; i < CASE_COUNT; i++) {
        uint32_t length;
        const char *why = NULL;
        if (fread(&length, 1, 4, in) != 4) {
            return 1;
        }
        if (length != UINT32_MAX) {
            if (length > sizeof frame || fread(frame, 1, length, in) != length) {
                return 1;
            }
            why = decode_case(&CASES[i], frame, length);
        }
        printf(why == NULL ? "ok\n" : "bad %s\n", why);
    }
    return 0;
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "load") == 0) {
        return 0;
    }
    if (count != 3) {
        return 2;
    }
    const bool writes = strcmp(words[1], "encode") == 0;
    FILE *file = fopen(words[2], writes ? "wb" : "rb");
    if (file == NULL) {
        return 1;
    }
    const int status = writes ? encode(file) : decode(file);
    return fclose(file) == 0 ? status : 1;
}
