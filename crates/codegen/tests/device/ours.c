/* A device that uses generated code: what it does is chosen when compiling. */
#include "drone.structframe.h"

DroneImu imu;
uint8_t out[128];
size_t out_length;

#if defined(SENDS) || defined(MEASURED)
__attribute__((noinline)) SfStatus send(const DroneImu *message) {
    const SfHeader header = {0, 0, 0};
    return DroneImu_write(message, SF_BULK, header, out, sizeof out, &out_length);
}
#endif

#if defined(RECEIVES) || defined(MEASURED)
uint8_t buffer[512];
uint64_t total;
SfStream stream;

static void on_event(void *context, const SfEvent *event) {
    (void)context;
    if (event->kind == SF_EVENT_FRAME && DroneImu_read(&imu, SF_BULK, event) == SF_OK) {
        total += imu.time_us;
    }
}

void begin(void) { sf_stream_init(&stream, SF_BULK, &Drone_lookup, buffer, sizeof buffer); }
__attribute__((noinline)) void receive(const uint8_t *bytes, size_t length) {
    sf_stream_feed(&stream, bytes, length, on_event, NULL);
}
#endif

#ifdef MEASURED
__attribute__((noinline)) static void parse(void) {
    SfBufferReader reader;
    SfEvent frame;
    sf_buffer_reader_init(&reader, SF_BULK, &Drone_lookup, out, out_length);
    while (sf_buffer_reader_next_frame(&reader, &frame)) {
        if (DroneImu_read(&imu, SF_BULK, &frame) == SF_OK) {
            total += imu.time_us;
        }
    }
}
#include "measured.h"
#else
volatile uint8_t line;
int main(void) {
#ifdef SENDS
    send(&imu);
#endif
#ifdef RECEIVES
    begin();
    for (;;) {
        uint8_t byte = line;
        receive(&byte, 1);
    }
#endif
    return 0;
}
#endif
