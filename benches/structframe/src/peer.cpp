// The reference's generated C++ behind a few functions.

#include <cstdint>

#include "bench.structframe.hpp"
#include "frame_profiles.hpp"

using namespace structframe;

extern "C" size_t cpp_encode_small(const bench::Small *messages, size_t count, uint8_t *out, size_t room) {
  BufferWriter<ProfileStandardConfig> writer(out, room);
  size_t at = 0;
  for (size_t i = 0; i < count; i++) at += writer.write(messages[i]);
  return at;
}

extern "C" size_t cpp_encode_large(const bench::Large *messages, size_t count, uint8_t *out, size_t room) {
  BufferWriter<ProfileBulkConfig> writer(out, room);
  size_t at = 0;
  for (size_t i = 0; i < count; i++) at += writer.write(messages[i]);
  return at;
}

template <typename Config, typename Message, typename Look>
static uint64_t parse(const uint8_t *bytes, size_t len, Look look) {
  auto infos = [](uint16_t id) { return bench::get_message_info(id); };
  BufferReader<Config, decltype(infos)> reader(bytes, len, infos);
  FrameMsgInfo info;
  uint64_t sum = 0;
  while (reader.try_next(info)) {
    if (!info.valid) continue;
    Message message;
    message.deserialize(info);
    sum += look(message);
  }
  return sum;
}

extern "C" uint64_t cpp_parse_small(const uint8_t *bytes, size_t len) {
  return parse<ProfileStandardConfig, bench::Small>(
      bytes, len, [](const bench::Small &message) { return uint64_t(message.stamp) + message.status; });
}

extern "C" uint64_t cpp_parse_large(const uint8_t *bytes, size_t len) {
  return parse<ProfileBulkConfig, bench::Large>(
      bytes, len, [](const bench::Large &message) { return uint64_t(message.stamp) + message.body[2047]; });
}

extern "C" uint64_t cpp_frames_large(const uint8_t *bytes, size_t len) {
  auto infos = [](uint16_t id) { return bench::get_message_info(id); };
  BufferReader<ProfileBulkConfig, decltype(infos)> reader(bytes, len, infos);
  FrameMsgInfo info;
  uint64_t sum = 0;
  while (reader.try_next(info))
    if (info.valid) sum += info.msg_data[0] + info.msg_data[info.msg_len - 1];
  return sum;
}

static uint64_t add_small(const FrameMsgInfo &info) {
  bench::Small message;
  message.deserialize(info);
  return uint64_t(message.stamp) + message.status;
}

extern "C" uint64_t cpp_chunked_small(const uint8_t *bytes, size_t len, size_t chunk) {
  auto infos = [](uint16_t id) { return bench::get_message_info(id); };
  AccumulatingReader<ProfileStandardConfig, 1024, decltype(infos)> reader(infos);
  FrameMsgInfo info;
  uint64_t sum = 0;
  for (size_t at = 0; at < len; at += chunk) {
    reader.add_data(bytes + at, len - at < chunk ? len - at : chunk);
    while (reader.try_next(info))
      if (info.valid) sum += add_small(info);
  }
  return sum;
}

extern "C" uint64_t cpp_bytewise_small(const uint8_t *bytes, size_t len) {
  auto infos = [](uint16_t id) { return bench::get_message_info(id); };
  AccumulatingReader<ProfileStandardConfig, 1024, decltype(infos)> reader(infos);
  uint64_t sum = 0;
  for (size_t i = 0; i < len; i++) {
    const auto info = reader.push_byte(bytes[i]);
    if (info.valid) sum += add_small(info);
  }
  return sum;
}
