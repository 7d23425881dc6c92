/* The C that `fw gen` generates, used as peer.c uses the reference's. */

#include <stdint.h>

#include "bench.structframe.h"

static const SfHeader HEADER = {0, 0, 0};

size_t our_c_encode_small(const BenchSmall *messages, size_t count, uint8_t *out, size_t room) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    size_t length;
    if (BenchSmall_write(&messages[i], SF_STANDARD, HEADER, out + at, room - at, &length) == SF_OK) at += length;
  }
  return at;
}

size_t our_c_encode_large(const BenchLarge *messages, size_t count, uint8_t *out, size_t room) {
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    size_t length;
    if (BenchLarge_write(&messages[i], SF_BULK, HEADER, out + at, room - at, &length) == SF_OK) at += length;
  }
  return at;
}

uint64_t our_c_parse_small(const uint8_t *bytes, size_t len) {
  SfBufferReader reader;
  SfEvent frame;
  uint64_t sum = 0;
  sf_buffer_reader_init(&reader, SF_STANDARD, &Bench_lookup, bytes, len);
  while (sf_buffer_reader_next_frame(&reader, &frame)) {
    BenchSmall message;
    if (BenchSmall_read(&message, SF_STANDARD, &frame) == SF_OK) sum += message.stamp + message.status;
  }
  return sum;
}

uint64_t our_c_frames_large(const uint8_t *bytes, size_t len) {
  SfBufferReader reader;
  SfEvent frame;
  uint64_t sum = 0;
  sf_buffer_reader_init(&reader, SF_BULK, &Bench_lookup, bytes, len);
  while (sf_buffer_reader_next_frame(&reader, &frame)) sum += frame.payload[0] + frame.payload[frame.payload_length - 1];
  return sum;
}

uint64_t our_c_parse_large(const uint8_t *bytes, size_t len) {
  SfBufferReader reader;
  SfEvent frame;
  uint64_t sum = 0;
  sf_buffer_reader_init(&reader, SF_BULK, &Bench_lookup, bytes, len);
  while (sf_buffer_reader_next_frame(&reader, &frame)) {
    BenchLarge message;
    if (BenchLarge_read(&message, SF_BULK, &frame) == SF_OK) sum += message.stamp + message.body[2047];
  }
  return sum;
}

static void add_small(void *context, const SfEvent *event) {
  BenchSmall message;
  if (BenchSmall_read(&message, SF_STANDARD, event) == SF_OK) *(uint64_t *)context += message.stamp + message.status;
}

uint64_t our_c_chunked_small(const uint8_t *bytes, size_t len, size_t chunk) {
  static uint8_t held[1024];
  SfStream stream;
  uint64_t sum = 0;
  sf_stream_init(&stream, SF_STANDARD, &Bench_lookup, held, sizeof held);
  for (size_t at = 0; at < len; at += chunk)
    sf_stream_feed(&stream, bytes + at, len - at < chunk ? len - at : chunk, add_small, &sum);
  return sum;
}

uint64_t our_c_bytewise_small(const uint8_t *bytes, size_t len) {
  static uint8_t held[1024];
  SfStream stream;
  uint64_t sum = 0;
  sf_stream_init(&stream, SF_STANDARD, &Bench_lookup, held, sizeof held);
  for (size_t i = 0; i < len; i++) sf_stream_feed(&stream, bytes + i, 1, add_small, &sum);
  return sum;
}
