// What generated C++ does with unusual payloads and values, on the schema made to hurt.
#include "other.structframe.hpp"
#include "torture.structframe.hpp"

#include <cmath>
#include <cstdlib>
#include <iostream>

namespace sf = structframe;
namespace torture = structframe::torture;

#define CHECK(condition)                                                  \
    do {                                                                  \
        if (!(condition)) {                                               \
            std::cout << "line " << __LINE__ << ": " #condition << "\n";  \
            std::exit(1);                                                 \
        }                                                                 \
    } while (0)

static std::uint8_t out[4096];

static void defaults() {
    torture::Defaults a;
    torture::Defaults b;
    CHECK(a.i8 == -128 && a.u64 == UINT64_MAX && a.i64 == INT64_MIN && std::isinf(a.f) && a.f < 0 && a.yes);
    CHECK(to_string(a.result) == "class" && to_string(static_cast<torture::Result>(99)) == "?");
    b.i8 = 0;
    CHECK(a != b && sf::decode(b, sf::Layout::Fixed, nullptr, 0) == sf::Status::Ok && a == b);
    CHECK(torture::Early{}.late.n == 77 && torture::Door{}.state == torture::Door::State::Shut);
}

static void extensions() {
    torture::Grown grown;
    torture::GrownVariable variable;
    const std::uint8_t old[] = {1, 2, 0x78};
    const std::uint8_t old_variable[] = {2, 9, 8, 5};
    CHECK(sf::decode(grown, sf::Layout::Fixed, old, sizeof old) == sf::Status::Ok);
    CHECK(grown.id == 0x0201 && grown.up == 305419896 && grown.note.view() == "fresh");
    CHECK(sf::decode(variable, sf::Layout::Wire, old_variable, sizeof old_variable) == sf::Status::Ok);
    CHECK(variable.ids.size() == 2 && variable.up == 5 && variable.note.view() == "fresh" && variable.blob[0] == 'a');
    CHECK(sf::decode(variable, sf::Layout::Wire, old_variable, 2) == sf::Status::Truncated);
}

static void bounds() {
    torture::Arrays arrays;
    torture::Text text;
    const std::uint8_t hostile[] = {6, 1, 1, 1, 1, 1, 1};
    const std::uint8_t full[] = {0xff, 'a', 'b', 'c', 'd'};
    CHECK(sf::decode(arrays, sf::Layout::Wire, hostile, sizeof hostile) == sf::Status::CountExceedsBound);
    CHECK(sf::decode(text, sf::Layout::Fixed, full, sizeof full) == sf::Status::Ok && text.text.view() == "abcd");
    CHECK(!text.text.assign("hello") && text.text.view() == "abcd");
    CHECK(!arrays.long_.resize(301) && arrays.long_.resize(300));
    CHECK(sf::encode(arrays, sf::Layout::Wire, out, 100).status == sf::Status::BufferTooShort);
}

static void unions() {
    torture::Mixed mixed;
    torture::Mixed again;
    CHECK(!mixed.data.is_set() && mixed.data.as_text() == nullptr);
    CHECK(mixed.data.set_text().assign("five!") && mixed.data.tag() == torture::Mixed::Data::Tag::Text);
    const auto written = sf::encode(mixed, sf::Layout::Fixed, out, sizeof out);
    CHECK(written && sf::decode(again, sf::Layout::Fixed, out, written.length) == sf::Status::Ok && mixed == again);
    // An unknown tag keeps its bytes.
    out[0] = 77;
    CHECK(sf::decode(again, sf::Layout::Fixed, out, written.length) == sf::Status::Ok);
    CHECK(static_cast<int>(again.data.tag()) == 77 && mixed != again);
    std::uint8_t twice[4096];
    CHECK(sf::encode(again, sf::Layout::Fixed, twice, sizeof twice) && std::equal(out, out + written.length, twice));
    // Tags are effective ids, also of another package.
    torture::Envelope envelope;
    envelope.payload.set_theirs().a = 5;
    const auto wire = sf::encode(envelope, sf::Layout::Wire, out, sizeof out);
    CHECK(wire.length == 4 && out[0] == 3 && out[1] == 0x01 && out[2] == 0x09 && out[3] == 5);
    // Without a tag, through functions.
    torture::Tagless tagless;
    tagless.body.set_late({});
    CHECK(tagless.body.as_late().n == 77);
    tagless.body.set_number(1.5f);
    CHECK(tagless.body.as_number() == 1.5f && tagless.body.bytes[4] == 0);
}

static void frames() {
    torture::Object object;
    object.v = 0x1234;
    const sf::Merged merged{&sf::other::package, &torture::package};
    const sf::Lookup lookup = merged;
    CHECK(sf::write(object, sf::standard, {5, 1, 2}, out, sizeof out).status == sf::Status::IdTooLarge);
    const auto written = sf::write(object, sf::network, {5, 1, 2}, out, sizeof out);
    CHECK(written.length == 13 && !sf::parse(sf::network, lookup, out, 12));
    const auto frame = sf::parse(sf::network, lookup, out, 13);
    torture::Object found;
    torture::Empty empty;
    CHECK(frame && frame->header.sequence == 5 && sf::read(found, sf::network, *frame) == sf::Status::Ok);
    CHECK(found == object && sf::read(empty, sf::network, *frame) == sf::Status::OtherMessage);
    CHECK(sf::write(empty, sf::bulk, {}, out, sizeof out).length == 8);
    CHECK(lookup.find(0x0902) != nullptr && lookup.find(1) == nullptr && torture::lookup.find(0x0902) != nullptr);
    CHECK(lookup.find(0x0803)->name == "torture.Object");
}

int main() {
    defaults();
    extensions();
    bounds();
    unions();
    frames();
    std::cout << "all as it should be\n";
    return 0;
}
