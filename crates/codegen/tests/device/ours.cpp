// The same in C++.
#include "drone.structframe.hpp"

using namespace structframe;

static drone::Imu imu;
static uint8_t out[128];
static size_t out_length;

#if defined(SENDS) || defined(MEASURED)
extern "C" __attribute__((noinline)) void send(const drone::Imu *message) {
    out_length = write(*message, bulk, Header{}, out, sizeof out).length;
}
#endif

#if defined(RECEIVES) || defined(MEASURED)
static uint64_t total;

static void on_event(const Event &event) {
    if (read(imu, bulk, event) == Status::Ok) {
        total += imu.time_us;
    }
}

static Stream<512> stream(bulk, drone::lookup);
static void begin() { stream = Stream<512>(bulk, drone::lookup); }
extern "C" __attribute__((noinline)) void receive(const uint8_t *bytes, size_t length) {
    stream.feed(bytes, length, on_event);
}
#endif

#ifdef MEASURED
__attribute__((noinline)) static void parse() {
    BufferReader reader(bulk, drone::lookup, out, out_length);
    while (const auto frame = reader.next_frame()) {
        on_event(*frame);
    }
}
#include "measured.h"
#else
volatile uint8_t line;
int main() {
#ifdef SENDS
    send(&imu);
#endif
#ifdef RECEIVES
    for (;;) {
        const uint8_t byte = line;
        receive(&byte, 1);
    }
#endif
    return 0;
}
#endif
