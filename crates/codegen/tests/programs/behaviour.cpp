// What generated C++ does with unusual payloads and values, on the schema made to hurt.
#include "other.structframe.hpp"
#include "torture.structframe.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <new>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

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

// How often the heap was used.
static int allocations = 0;

void* operator new(std::size_t size) {
    allocations++;
    if (void* place = std::malloc(size > 0 ? size : 1)) {
        return place;
    }
    throw std::bad_alloc();
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

static void defaults() {
    torture::Defaults a;
    torture::Defaults b;
    CHECK(a.i8 == -128 && a.u64 == UINT64_MAX && a.i64 == INT64_MIN && std::isinf(a.f) && a.f < 0 && a.yes);
    CHECK(to_string(a.result) == "class" && to_string(static_cast<torture::Result>(99)) == "?");
    b.i8 = 0;
    CHECK(a != b && sf::decode(b, sf::Layout::Fixed, nullptr, 0) == sf::Status::Ok && a == b);
    CHECK(torture::Early{}.late.n == 77 && torture::Door{}.state == torture::Door::State::Shut);
}

// Arrays, views of text and unions work with those of the standard library, which the runtime does not include.
static void standard_types() {
    const sf::TextView view = sf::name(sf::Status::Ok);
    const std::string_view standard = view;
    const std::string copied(view);
    CHECK(view == "ok" && standard == view && view == standard && copied == view && view != std::string("other"));
    CHECK(sf::TextView(copied) == "ok" && sf::TextView().empty() && view[1] == 'k' && view.find('x') == view.size());
    sf::Text<5> text("five!");
    const std::string_view held = text;
    CHECK(held == "five!" && text == sf::Text<5>("five!") && text.assign(std::string("four")) && text.view() == "four");
    CHECK(!text.assign(std::string_view("longer")));
    std::ostringstream shown;
    shown << view << ' ' << text.view();
    CHECK(shown.str() == "ok four");
    sf::Array<int, 3> numbers{1, 2, 3};
    int sum = 0;
    for (const int number : numbers) {
        sum += number;
    }
    numbers[0] = 2;
    const sf::Array<int, 3> before{{1, 2, 3}}, nines{9, 9, 9};
    CHECK(sum == 6 && numbers.size() == 3 && numbers != before);
    CHECK(std::accumulate(numbers.begin(), numbers.end(), 0) == 7);
    numbers.fill(9);
    const sf::Array<int, 0> none{}, nothing{};
    CHECK(numbers == nines && none == nothing && none.empty() && none.begin() == none.end());
    sf::OneOf<int, double> one, unset;
    CHECK(one.index() == 0 && one.get<1>() == nullptr && one == unset);
    one.set<2>() = 1.5;
    auto other = one;
    CHECK(other == one && *other.get<2>() == 1.5 && other.get<1>() == nullptr);
    other.set<1>() = 1;
    CHECK(other != one && *other.get<1>() == 1);
    other.clear();
    CHECK(other.index() == 0);
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

// What a reader told: a letter per event.
struct Told {
    std::string letters;
    void operator()(const sf::Event& event) { letters += "FBST"[static_cast<int>(event.kind)]; }
};

static std::vector<std::uint8_t> frame_of(std::uint16_t v, std::uint8_t sequence) {
    torture::Object object;
    object.v = v;
    const auto written = sf::write(object, sf::network, {sequence, 2, 3}, out, sizeof out);
    CHECK(written);
    return {out, out + written.length};
}

static void same_counters(const sf::Counters& counters, std::size_t failed_bytes) {
    CHECK(counters.frames == 5 && counters.recovered == 1 && counters.unknown_ids == 1);
    CHECK(counters.crc_failures == 2 && counters.sync_recoveries == 3 && counters.failed_bytes == failed_bytes);
    CHECK(counters.noise_bytes == 1 && counters.len_errors == 2 && counters.seq_gaps == 2);
}

static void readers() {
    std::vector<std::uint8_t> all{0x11};
    std::size_t failed = 0;
    const auto append = [&](const std::vector<std::uint8_t>& more) { all.insert(all.end(), more.begin(), more.end()); };
    append(frame_of(5, 1));
    // A wrong checksum.
    auto frame = frame_of(6, 2);
    frame.back() ^= 1;
    failed += frame.size();
    append(frame);
    // Half of a start.
    append({0x90, 0x13});
    failed += 2;
    append(frame_of(7, 4));
    // Shorter than its message ever is, and of an id that nobody knows.
    const std::uint8_t few[] = {9, 9, 9, 9};
    auto written = sf::write_payload(*torture::lookup.find(0x0803), few, 1, sf::network, {5, 2, 3}, out, sizeof out);
    append({out, out + written.length});
    const sf::MessageInfo strange{0x7777, 4, 4, 4, {}, "strange"};
    written = sf::write_payload(strange, few, 4, sf::network, {6, 2, 3}, out, sizeof out);
    append({out, out + written.length});
    // A damaged length that swallows the frame behind it.
    frame = frame_of(8, 7);
    frame[5] = static_cast<std::uint8_t>(frame[5] + frame.size());
    append(frame);
    append(frame_of(9, 8));
    failed += 2 * frame.size();
    // A frame that ends too early.
    frame = frame_of(10, 9);
    frame.resize(5);
    append(frame);
    failed += 5;

    Told told;
    sf::BufferReader whole(sf::network, torture::lookup, all.data(), all.size());
    while (const auto event = whole.next()) {
        told(*event);
    }
    CHECK(told.letters == "SFBSFFFBFT");
    same_counters(whole.counters(), failed);
    told.letters.clear();
    sf::Stream<64> stream(sf::network, torture::lookup);
    for (const auto byte : all) {
        stream.feed(&byte, 1, told);
    }
    CHECK(stream.partial() == 5);
    stream.finish(told);
    CHECK(told.letters == "SFBSFFFBFT" && stream.partial() == 0);
    same_counters(stream.counters(), failed);
    stream.reset_counters();
    CHECK(stream.counters().frames == 0 && stream.counters().failed_bytes == 0);
    // Only good frames, and one alone.
    sf::BufferReader good(sf::network, torture::lookup, all.data(), all.size());
    int frames = 0;
    while (good.next_frame()) {
        frames++;
    }
    CHECK(frames == 5 && sf::parse(sf::network, torture::lookup, all.data() + 1, all.size() - 1)->header.sequence == 1);
    CHECK(!sf::parse(sf::network, torture::lookup, all.data(), all.size()));
}

// Answers everything, five bytes at a time, after an answer to something else.
struct Echo : sf::Transport {
    std::uint8_t waiting[256];
    std::size_t from = 0;
    std::size_t to = 0;
    std::uint32_t now = UINT32_MAX - 3;  // wraps around meanwhile
    bool closed = false;
    sf::Header last;

    bool send(const std::uint8_t* data, std::size_t length) override {
        const auto frame = sf::parse(sf::network, torture::lookup, data, length);
        if (closed || !frame) {
            return false;
        }
        last = frame->header;
        if (from == to) {
            from = to = 0;
        }
        for (std::uint8_t i = 0; i < 2; i++) {
            torture::Object object;
            object.v = static_cast<std::uint16_t>(41 + i);
            to += sf::write(object, sf::network, {i, 0, 0}, waiting + to, sizeof waiting - to).length;
        }
        return true;
    }
    std::ptrdiff_t receive(std::uint8_t* data, std::size_t capacity, std::uint32_t timeout_ms) override {
        const auto count = std::min<std::size_t>(to - from, 5);
        CHECK(count <= capacity);
        if (closed && count == 0) {
            return -1;
        }
        std::copy(waiting + from, waiting + from + count, data);
        from += count;
        now += count > 0 ? 1 : timeout_ms;
        return static_cast<std::ptrdiff_t>(count);
    }
    std::uint32_t now_ms() override { return now; }
};

static void requests() {
    Echo echo;
    static sf::Client<64, 64, 4> client(echo, sf::network, torture::lookup);
    client.header.system = 3;
    int sum = 0;
    const auto adding = client.subscribe<torture::Object>([&](const torture::Object& found) { sum += found.v; });
    torture::Frame question;
    torture::Object answer;
    question.header = 1;
    const auto before = allocations;
    const auto accept = [](int wanted) { return [wanted](const torture::Object& found) { return found.v == wanted; }; };
    CHECK(client.request(question, answer, 1000, accept(42)) == sf::Status::Ok);
    CHECK(answer.v == 42 && sum == 41 + 42 && echo.last.system == 3 && echo.last.sequence == 0);
    CHECK(client.counters().frames == 2 && client.counters().crc_failures == 0);
    // No answer that is accepted comes in time; what was accepted before stays, and sequence numbers go on.
    CHECK(client.request(question, answer, 50, accept(43)) == sf::Status::Timeout);
    CHECK(answer.v == 42 && sum == 2 * (41 + 42) && echo.last.sequence == 1);
    // Any answer will do.
    CHECK(client.request(question, answer, 1000) == sf::Status::Ok && answer.v == 41);
    while (client.poll(10) == sf::Status::Ok) {
    }
    CHECK(allocations == before);
    // A handler may end its own subscription, and still use what it holds.
    struct Once {
        std::array<int, 16> much{};  // more than a std::function keeps in place
        std::size_t* place;
        int* calls;
        void operator()(const sf::Event& event) const {
            client.unsubscribe(*place);
            CHECK(event.id == 0x0803 && much[15] == 0);
            (*calls)++;
        }
    };
    std::size_t place = 0;
    int calls = 0;
    place = *client.subscribe_id(0x0803, Once{{}, &place, &calls});
    CHECK(client.send(question) == sf::Status::Ok);
    while (client.poll(10) == sf::Status::Ok) {
    }
    CHECK(calls == 1);
    client.unsubscribe(*adding);
    // All four places are free again.
    for (std::size_t i = 0; i < 4; i++) {
        CHECK(client.subscribe_id(1, [](const sf::Event&) {}) == i);
    }
    CHECK(!client.subscribe_id(1, [](const sf::Event&) {}));
    // The other side is gone.
    echo.closed = true;
    CHECK(client.poll(10) == sf::Status::Closed);
    CHECK(client.request(question, answer, 1000) == sf::Status::NotSent);
}

int main() {
    defaults();
    standard_types();
    extensions();
    bounds();
    unions();
    frames();
    CHECK(allocations == 0);
    readers();
    requests();
    std::cout << "all as it should be\n";
    return 0;
}
