// The same with the C++ that the reference package generates.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "drone.structframe.hpp"
#include "frame_profiles.hpp"

using namespace structframe;

static drone::Imu imu;
static uint8_t out[128];
static size_t out_length;

#if defined(SENDS) || defined(MEASURED)
extern "C" __attribute__((noinline)) void send(const drone::Imu *message) {
    BufferWriter<ProfileBulkConfig> writer(out, sizeof out);
    out_length = writer.write(*message);
}
#endif

#if defined(RECEIVES) || defined(MEASURED)
static uint64_t total;

static const auto infos = [](uint16_t id) { return drone::get_message_info(id); };
using Infos = std::remove_const_t<decltype(infos)>;

static void on_frame(const FrameMsgInfo &info) {
    if (info.valid && imu.deserialize(info)) {
        total += imu.time_us;
    }
}

static AccumulatingReader<ProfileBulkConfig, 512, Infos> reader(infos);
static void begin() { reader = AccumulatingReader<ProfileBulkConfig, 512, Infos>(infos); }
extern "C" __attribute__((noinline)) void receive(const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        on_frame(reader.push_byte(bytes[i]));
    }
}
#endif

#ifdef MEASURED
__attribute__((noinline)) static void parse() {
    BufferReader<ProfileBulkConfig, Infos> whole(out, out_length, infos);
    FrameMsgInfo info;
    while (whole.try_next(info)) {
        on_frame(info);
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
