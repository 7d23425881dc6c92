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

int main(void) {
    defaults();
    extensions();
    bounds();
    unions();
    frames();
    puts("all as it should be");
    return 0;
}
