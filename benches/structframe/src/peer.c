/* The reference's generated C behind a few functions. */

#include <stdint.h>
#include <string.h>

#include "bench.structframe.h"
#include "frame_profiles.h"

size_t c_encode_small(const BenchSmall *messages, size_t count, uint8_t *out, size_t room) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++)
    at += profile_encode_message(&PROFILE_STANDARD_CONFIG, out + at, room - at, 0, 0, 0, 0, BENCH_SMALL_MSG_ID,
                                 (const uint8_t *)&messages[i], sizeof(BenchSmall), BENCH_SMALL_BASE_SIZE,
                                 BENCH_SMALL_MAGIC1, BENCH_SMALL_MAGIC2);
  return at;
}

size_t c_encode_large(const BenchLarge *messages, size_t count, uint8_t *out, size_t room) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++)
    at += profile_encode_message(&PROFILE_BULK_CONFIG, out + at, room - at, 0, 0, 0, 0, BENCH_LARGE_MSG_ID,
                                 (const uint8_t *)&messages[i], sizeof(BenchLarge), BENCH_LARGE_BASE_SIZE,
                                 BENCH_LARGE_MAGIC1, BENCH_LARGE_MAGIC2);
  return at;
}

uint64_t c_parse_small(const uint8_t *bytes, size_t len) {
  buffer_reader_t reader;
  frame_msg_info_t info;
  uint64_t sum = 0;
  buffer_reader_init(&reader, &PROFILE_STANDARD_CONFIG, bytes, len, bench_get_message_info);
  while (buffer_reader_try_next(&reader, &info)) {
    BenchSmall message;
    if (!info.valid) continue;
    BenchSmall_deserialize(info.msg_data, info.msg_len, &message);
    sum += message.stamp + message.status;
  }
  return sum;
}

uint64_t c_frames_large(const uint8_t *bytes, size_t len) {
  buffer_reader_t reader;
  frame_msg_info_t info;
  uint64_t sum = 0;
  buffer_reader_init(&reader, &PROFILE_BULK_CONFIG, bytes, len, bench_get_message_info);
  while (buffer_reader_try_next(&reader, &info))
    if (info.valid) sum += info.msg_data[0] + info.msg_data[info.msg_len - 1];
  return sum;
}

uint64_t c_parse_large(const uint8_t *bytes, size_t len) {
  buffer_reader_t reader;
  frame_msg_info_t info;
  uint64_t sum = 0;
  buffer_reader_init(&reader, &PROFILE_BULK_CONFIG, bytes, len, bench_get_message_info);
  while (buffer_reader_try_next(&reader, &info)) {
    BenchLarge message;
    if (!info.valid) continue;
    BenchLarge_deserialize(info.msg_data, info.msg_len, &message);
    sum += message.stamp + message.body[2047];
  }
  return sum;
}

uint64_t c_chunked_small(const uint8_t *bytes, size_t len, size_t chunk) {
  static uint8_t held[1024];
  accumulating_reader_t reader;
  frame_msg_info_t info;
  uint64_t sum = 0;
  accumulating_reader_init(&reader, &PROFILE_STANDARD_CONFIG, held, sizeof held, bench_get_message_info);
  for (size_t at = 0; at < len; at += chunk) {
    accumulating_reader_add_data(&reader, bytes + at, len - at < chunk ? len - at : chunk);
    while (accumulating_reader_try_next(&reader, &info)) {
      BenchSmall message;
      if (!info.valid) continue;
      BenchSmall_deserialize(info.msg_data, info.msg_len, &message);
      sum += message.stamp + message.status;
    }
  }
  return sum;
}

uint64_t c_bytewise_small(const uint8_t *bytes, size_t len) {
  static uint8_t held[1024];
  accumulating_reader_t reader;
  uint64_t sum = 0;
  accumulating_reader_init(&reader, &PROFILE_STANDARD_CONFIG, held, sizeof held, bench_get_message_info);
  for (size_t i = 0; i < len; i++) {
    frame_msg_info_t info = accumulating_reader_push_byte(&reader, bytes[i]);
    BenchSmall message;
    if (!info.valid) continue;
    BenchSmall_deserialize(info.msg_data, info.msg_len, &message);
    sum += message.stamp + message.status;
  }
  return sum;
}
