/* The same with the code that the reference package generates. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "drone.structframe.h"
#include "frame_profiles.h"

DroneImu imu;
uint8_t out[128];
size_t out_length;

#if defined(SENDS) || defined(MEASURED)
__attribute__((noinline)) void send(const DroneImu *message) {
    out_length = profile_encode_message(&PROFILE_BULK_CONFIG, out, sizeof out, 0, 0, 0, (uint8_t)(DRONE_IMU_MSG_ID >> 8),
                                        (uint8_t)DRONE_IMU_MSG_ID, (const uint8_t *)message, sizeof *message,
                                        DRONE_IMU_BASE_SIZE, DRONE_IMU_MAGIC1, DRONE_IMU_MAGIC2);
}
#endif

#if defined(RECEIVES) || defined(MEASURED)
uint8_t buffer[512];
uint64_t total;
accumulating_reader_t reader;

void begin(void) {
    accumulating_reader_init(&reader, &PROFILE_BULK_CONFIG, buffer, sizeof buffer, drone_get_message_info);
}
__attribute__((noinline)) void receive(const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        frame_msg_info_t info = accumulating_reader_push_byte(&reader, bytes[i]);
        if (info.valid && DroneImu_deserialize(info.msg_data, info.msg_len, &imu)) {
            total += imu.time_us;
        }
    }
}
#endif

#ifdef MEASURED
__attribute__((noinline)) static void parse(void) {
    buffer_reader_t whole;
    frame_msg_info_t info;
    buffer_reader_init(&whole, &PROFILE_BULK_CONFIG, out, out_length, drone_get_message_info);
    while (buffer_reader_try_next(&whole, &info)) {
        if (info.valid && DroneImu_deserialize(info.msg_data, info.msg_len, &imu)) {
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
