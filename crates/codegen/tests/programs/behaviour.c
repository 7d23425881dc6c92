/* What generated C does with unusual payloads and values, on the schema made to hurt. */
#include "other.structframe.h"
#include "torture.structframe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("line %d: %s\n", __LINE__, #condition);                                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static uint8_t out[4096];
static size_t length;

static void defaults(void) {
    TortureDefaults a;
    TortureDefaults b;
    TortureDefaults_init(&a);
    CHECK(a.i8 == -128 && a.u64 == UINT64_MAX && a.i64 == INT64_MIN && isinf(a.f) && a.f < 0 && a.yes);
    CHECK(a.result == TORTURE_RESULT_CLASS && strcmp(TortureResult_name(a.result), "class") == 0);
    CHECK(strcmp(TortureResult_name(99), "?") == 0);
    /* No bytes at all: every one from the default image. */
    CHECK(TortureDefaults_decode(&b, SF_LAYOUT_FIXED, NULL, 0) == SF_OK && TortureDefaults_equals(&a, &b));
    /* Inside a message and inside an array. */
    {
        TortureEarly early;
        TortureEarly_init(&early);
        CHECK(early.late.n == 77 && early.more[0].n == 0 && early.colour == TORTURE_COLOUR_BLUE);
    }
}

static void extensions(void) {
    TortureGrown grown;
    TortureGrownVariable variable;
    const uint8_t old[] = {1, 2, 0x78};
    const uint8_t old_variable[] = {2, 9, 8, 5};
    CHECK(TortureGrown_decode(&grown, SF_LAYOUT_FIXED, old, sizeof old) == SF_OK);
    CHECK(grown.id == 0x0201 && grown.up == 305419896 && grown.note.length == 5);
    /* A partly present extension field of a variable message stays at its default. */
    CHECK(TortureGrownVariable_decode(&variable, SF_LAYOUT_WIRE, old_variable, sizeof old_variable) == SF_OK);
    CHECK(variable.ids.count == 2 && variable.ids.items[1] == 8 && variable.up == 5 && variable.note.length == 5);
    CHECK(variable.blob[0] == 'a');
    CHECK(TortureGrownVariable_decode(&variable, SF_LAYOUT_WIRE, old_variable, 2) == SF_TRUNCATED);
}

static void bounds(void) {
    static TortureArrays arrays;
    const uint8_t hostile[] = {6, 1, 1, 1, 1, 1, 1};
    const uint8_t full[] = {0xff, 'a', 'b', 'c', 'd'};
    TortureText text;
    CHECK(TortureArrays_decode(&arrays, SF_LAYOUT_WIRE, hostile, sizeof hostile) == SF_COUNT_EXCEEDS_BOUND);
    CHECK(TortureText_decode(&text, SF_LAYOUT_FIXED, full, sizeof full) == SF_OK && text.text.length == 4);
    text.text.length = 5;
    CHECK(TortureText_encode(&text, SF_LAYOUT_FIXED, out, sizeof out, &length) == SF_TOO_LONG && length == 0);
    TortureArrays_init(&arrays);
    arrays.long_.count = 301;
    CHECK(TortureArrays_encode(&arrays, SF_LAYOUT_WIRE, out, sizeof out, &length) == SF_TOO_LONG);
    arrays.long_.count = 300;
    CHECK(TortureArrays_encode(&arrays, SF_LAYOUT_WIRE, out, 100, &length) == SF_BUFFER_TOO_SHORT);
    CHECK(!SF_SET_TEXT(text.text, "hello") && SF_SET_TEXT(text.text, "four") && text.text.length == 4);
    {
        /* The text is looked at once. */
        const char *words[] = {"one", "two"};
        const char **next = words;
        CHECK(SF_SET_TEXT(text.text, *next++) && next == words + 1 && text.text.length == 3);
        CHECK(memcmp(text.text.data, "one\0", 4) == 0);
    }
}

static void unions(void) {
    TortureMixed mixed;
    TortureMixed again;
    TortureEnvelope envelope;
    TortureTagless tagless;
    TortureLate late;
    OtherClash clash;
    TortureMixed_init(&mixed);
    CHECK(TortureMixed_set_data_text(&mixed, "sixsix", 6) == SF_TOO_LONG && mixed.data.tag == 0);
    CHECK(TortureMixed_set_data_text(&mixed, "five!", 5) == SF_OK);
    CHECK(TortureMixed_encode(&mixed, SF_LAYOUT_FIXED, out, sizeof out, &length) == SF_OK);
    CHECK(TortureMixed_decode(&again, SF_LAYOUT_FIXED, out, length) == SF_OK && TortureMixed_equals(&mixed, &again));
    /* An unknown tag keeps its bytes. */
    out[0] = 77;
    CHECK(TortureMixed_decode(&again, SF_LAYOUT_FIXED, out, length) == SF_OK && again.data.tag == 77);
    CHECK(again.data.as.region[1] == 'f' && !TortureMixed_equals(&mixed, &again));
    {
        uint8_t twice[4096];
        size_t size;
        CHECK(TortureMixed_encode(&again, SF_LAYOUT_FIXED, twice, sizeof twice, &size) == SF_OK && size == length);
        CHECK(memcmp(twice, out, size) == 0);
    }
    /* Tags are effective ids, also of another package. */
    TortureEnvelope_init(&envelope);
    OtherClash_init(&clash);
    clash.a = 5;
    TortureEnvelope_set_payload_theirs(&envelope, &clash);
    CHECK(TortureEnvelope_encode(&envelope, SF_LAYOUT_WIRE, out, sizeof out, &length) == SF_OK);
    CHECK(length == 4 && out[0] == 3 && out[1] == 0x01 && out[2] == 0x09 && out[3] == 5);
    /* Without a tag, through functions. */
    TortureTagless_init(&tagless);
    TortureLate_init(&late);
    CHECK(late.n == 77 && TortureTagless_set_body_late(&tagless, &late) == SF_OK);
    memset(&late, 0, sizeof late);
    TortureTagless_get_body_late(&tagless, &late);
    CHECK(late.n == 77);
    TortureTagless_set_body_number(&tagless, 1.5f);
    CHECK(TortureTagless_get_body_number(&tagless) == 1.5f && tagless.body[4] == 0);
}

static void frames(void) {
    TortureObject object;
    TortureEmpty empty;
    SfHeader header = {5, 1, 2};
    SfEvent frame;
    const SfPackage *packages[] = {&Other_package, &Torture_package};
    const SfLookup merged = {packages, 2};
    TortureObject_init(&object);
    object.v = 0x1234;
    CHECK(TortureObject_write(&object, SF_STANDARD, header, out, sizeof out, &length) == SF_ID_TOO_LARGE);
    CHECK(TortureObject_write(&object, SF_NETWORK, header, out, sizeof out, &length) == SF_OK && length == 13);
    CHECK(sf_parse_frame(SF_NETWORK, &merged, out, length - 1, &frame) == SF_TRUNCATED);
    CHECK(sf_parse_frame(SF_NETWORK, &merged, out, length, &frame) == SF_OK && frame.header.sequence == 5);
    memset(&object, 0, sizeof object);
    CHECK(TortureObject_read(&object, SF_NETWORK, &frame) == SF_OK && object.v == 0x1234);
    CHECK(TortureEmpty_read(&empty, SF_NETWORK, &frame) == SF_OTHER_MESSAGE);
    TortureEmpty_init(&empty);
    CHECK(TortureEmpty_write(&empty, SF_BULK, header, out, sizeof out, &length) == SF_OK && length == 8);
    CHECK(sf_lookup_find(&merged, OTHER_BORROWED_MSG_ID) != NULL && sf_lookup_find(&merged, 1) == NULL);
    CHECK(sf_lookup_find(&Torture_lookup, OTHER_BORROWED_MSG_ID) != NULL);
    CHECK(strcmp(sf_lookup_find(&merged, TORTURE_OBJECT_MSG_ID)->name, "torture.Object") == 0);
}

/* What a reader told: a letter per event. */
static char told[32];
static size_t told_length;

static void tell(void *context, const SfEvent *event) {
    (void)context;
    if (told_length + 1 < sizeof told) {
        told[told_length++] = "FBST"[event->kind];
        told[told_length] = '\0';
    }
}

static void forget(void) {
    told_length = 0;
    told[0] = '\0';
}

static size_t object(uint8_t *at, uint16_t v, uint8_t sequence) {
    TortureObject message;
    SfHeader header = {0, 2, 3};
    size_t size = 0;
    header.sequence = sequence;
    TortureObject_init(&message);
    message.v = v;
    CHECK(TortureObject_write(&message, SF_NETWORK, header, at, 64, &size) == SF_OK);
    return size;
}

static void same_counters(const SfCounters *counters, uint32_t failed_bytes) {
    CHECK(counters->frames == 5 && counters->recovered == 1 && counters->unknown_ids == 1);
    CHECK(counters->crc_failures == 2 && counters->sync_recoveries == 3 && counters->failed_bytes == failed_bytes);
    CHECK(counters->noise_bytes == 1 && counters->len_errors == 2 && counters->seq_gaps == 2);
}

static void readers(void) {
    const SfMessageInfo strange = {0x7777, 4, 4, 4, {0, 0}, "strange"};
    const uint8_t few[] = {9, 9, 9, 9};
    uint8_t room[64];
    uint8_t all[256];
    size_t at = 0;
    size_t size = 0;
    uint32_t failed = 0;
    SfHeader header = {5, 2, 3};
    SfBufferReader whole;
    SfStream stream;
    SfEvent event;
    SfEvent frame;
    all[at++] = 0x11;
    at += object(all + at, 5, 1);
    /* A wrong checksum. */
    size = object(all + at, 6, 2);
    at += size;
    all[at - 1] ^= 1;
    failed += (uint32_t)size;
    /* Half of a start. */
    all[at++] = 0x90;
    all[at++] = 0x13;
    failed += 2;
    at += object(all + at, 7, 4);
    /* Shorter than its message ever is, and of an id that nobody knows. */
    CHECK(sf_write_frame(SF_NETWORK, header, sf_lookup_find(&Torture_lookup, TORTURE_OBJECT_MSG_ID), few, 1, all + at,
                         sizeof all - at, &size) == SF_OK);
    at += size;
    header.sequence = 6;
    CHECK(sf_write_frame(SF_NETWORK, header, &strange, few, 4, all + at, sizeof all - at, &size) == SF_OK);
    at += size;
    /* A damaged length that swallows the frame behind it. */
    size = object(all + at, 8, 7);
    all[at + 5] = (uint8_t)(all[at + 5] + size);
    at += size;
    size = object(all + at, 9, 8);
    at += size;
    failed += 2 * (uint32_t)size;
    /* A frame that ends too early. */
    (void)object(all + at, 10, 9);
    at += 5;
    failed += 5;

    forget();
    sf_buffer_reader_init(&whole, SF_NETWORK, &Torture_lookup, all, at);
    while (sf_buffer_reader_next(&whole, &event)) {
        tell(NULL, &event);
    }
    CHECK(strcmp(told, "SFBSFFFBFT") == 0);
    same_counters(&whole.machine.counters, failed);
    forget();
    sf_stream_init(&stream, SF_NETWORK, &Torture_lookup, room, sizeof room);
    for (size_t i = 0; i < at; i++) {
        sf_stream_feed(&stream, all + i, 1, tell, NULL);
    }
    CHECK(sf_stream_partial(&stream) == 5);
    sf_stream_finish(&stream, tell, NULL);
    CHECK(strcmp(told, "SFBSFFFBFT") == 0 && sf_stream_partial(&stream) == 0);
    same_counters(&stream.machine.counters, failed);
    /* Only good frames, and one alone. */
    sf_buffer_reader_init(&whole, SF_NETWORK, &Torture_lookup, all, at);
    for (size = 0; sf_buffer_reader_next_frame(&whole, &event); size++) {
    }
    CHECK(size == 5);
    CHECK(sf_parse_frame(SF_NETWORK, &Torture_lookup, all + 1, at - 1, &frame) == SF_OK && frame.header.sequence == 1);
    CHECK(sf_parse_frame(SF_NETWORK, &Torture_lookup, all, at, &frame) == SF_OTHER_MESSAGE);
}

/* Answers everything, five bytes at a time, after an answer to something else. */
typedef struct Echo {
    uint8_t waiting[256];
    size_t from;
    size_t to;
    uint32_t now;
    bool closed;
    SfHeader last;
} Echo;

static bool echo_send(void *context, const uint8_t *data, size_t size) {
    Echo *echo = (Echo *)context;
    SfEvent frame;
    if (echo->closed || sf_parse_frame(SF_NETWORK, &Torture_lookup, data, size, &frame) != SF_OK) {
        return false;
    }
    echo->last = frame.header;
    if (echo->from == echo->to) {
        echo->from = 0;
        echo->to = 0;
    }
    echo->to += object(echo->waiting + echo->to, 41, 0);
    echo->to += object(echo->waiting + echo->to, 42, 1);
    return true;
}

static long echo_receive(void *context, uint8_t *data, size_t capacity, uint32_t timeout_ms) {
    Echo *echo = (Echo *)context;
    size_t count = echo->to - echo->from < 5 ? echo->to - echo->from : 5;
    CHECK(count <= capacity);
    if (echo->closed && count == 0) {
        return -1;
    }
    memcpy(data, echo->waiting + echo->from, count);
    echo->from += count;
    echo->now += count > 0 ? 1 : timeout_ms;
    return (long)count;
}

static uint32_t echo_now(void *context) { return ((Echo *)context)->now; }

static void add(void *context, SfClient *client, const SfEvent *frame) {
    TortureObject message;
    CHECK(TortureObject_read(&message, client->framing, frame) == SF_OK);
    *(int *)context += message.v;
}

static SfSubscription other;

static void end_other(void *context, SfClient *client, const SfEvent *frame) {
    (void)frame;
    *(int *)context += 1;
    sf_client_unsubscribe(client, &other);
}

static bool is_answer(void *context, const void *response) {
    return ((const TortureObject *)response)->v == *(const int *)context;
}

static void requests(void) {
    static Echo echo;
    uint8_t in[64];
    uint8_t sent[64];
    SfTransport transport = {&echo, echo_send, echo_receive, echo_now};
    SfClient client;
    SfSubscription adding;
    SfSubscription ending;
    TortureFrame question;
    TortureObject answer;
    int sum = 0;
    int ended = 0;
    int wanted = 42;
    echo.now = UINT32_MAX - 3; /* the clock wraps around meanwhile */
    sf_client_init(&client, transport, SF_NETWORK, &Torture_lookup, in, sizeof in, sent, sizeof sent);
    client.header.system = 3;
    sf_client_subscribe(&client, &adding, TORTURE_OBJECT_MSG_ID, add, &sum);
    TortureFrame_init(&question);
    question.header = 1;
    CHECK(sf_client_request(&client, &TortureFrame_type, &question, &TortureObject_type, &answer, is_answer, &wanted,
                            1000) == SF_OK);
    CHECK(answer.v == 42 && sum == 41 + 42 && echo.last.system == 3 && echo.last.sequence == 0);
    CHECK(client.stream.machine.counters.frames == 2 && client.stream.machine.counters.crc_failures == 0);
    /* No answer that is accepted comes in time; sequence numbers go on. */
    wanted = 43;
    CHECK(sf_client_request(&client, &TortureFrame_type, &question, &TortureObject_type, &answer, is_answer, &wanted,
                            50) == SF_TIMEOUT);
    CHECK(sum == 2 * (41 + 42) && echo.last.sequence == 1);
    /* Any answer will do. */
    CHECK(sf_client_request(&client, &TortureFrame_type, &question, &TortureObject_type, &answer, NULL, NULL, 1000) ==
          SF_OK);
    CHECK(answer.v == 41);
    while (sf_client_poll(&client, 10) == SF_OK) {
    }
    /* A handler may end the subscription that would be told next. */
    sf_client_subscribe(&client, &other, TORTURE_OBJECT_MSG_ID, add, &sum);
    sf_client_subscribe(&client, &ending, TORTURE_OBJECT_MSG_ID, end_other, &ended);
    sum = 0;
    CHECK(sf_client_send(&client, &TortureFrame_type, &question) == SF_OK);
    while (sf_client_poll(&client, 10) == SF_OK) {
    }
    CHECK(sum == 41 + 42 && ended == 2);
    sf_client_unsubscribe(&client, &ending);
    sf_client_unsubscribe(&client, &adding);
    CHECK(client.subscriptions == NULL);
    /* The other side is gone. */
    echo.closed = true;
    CHECK(sf_client_poll(&client, 10) == SF_CLOSED);
    CHECK(sf_client_request(&client, &TortureFrame_type, &question, &TortureObject_type, &answer, NULL, NULL, 1000) ==
          SF_NOT_SENT);
}

int main(void) {
    defaults();
    extensions();
    bounds();
    unions();
    frames();
    readers();
    requests();
    puts("all as it should be");
    return 0;
}
