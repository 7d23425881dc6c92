// The C++ that `fw gen` generates, used as peer.cpp uses the reference's.

#include <cstdint>
#include <vector>

#include "bench.structframe.hpp"

using namespace structframe;

// Messages of generated C++ are plain structs: what they hold is given in packed payloads.
template <class Message>
static std::vector<Message> *messages_of(const uint8_t *images, size_t count) {
  const auto size = Codec<Message>::info.max_size;
  auto *messages = new std::vector<Message>(count);
  for (size_t i = 0; i < count; i++)
    if (decode((*messages)[i], Layout::Fixed, images + i * size, size) != Status::Ok) return nullptr;
  return messages;
}

extern "C" void *our_cpp_small_messages(const uint8_t *images, size_t count) {
  return messages_of<bench::Small>(images, count);
}
extern "C" void *our_cpp_large_messages(const uint8_t *images, size_t count) {
  return messages_of<bench::Large>(images, count);
}

template <class Message>
static size_t encode_all(Framing framing, const std::vector<Message> &messages, uint8_t *out, size_t room) {
  size_t at = 0;
  for (const auto &message : messages) at += write(message, framing, Header{}, out + at, room - at).length;
  return at;
}

extern "C" size_t our_cpp_encode_small(const void *messages, uint8_t *out, size_t room) {
  return encode_all(standard, *static_cast<const std::vector<bench::Small> *>(messages), out, room);
}

extern "C" size_t our_cpp_encode_large(const void *messages, uint8_t *out, size_t room) {
  return encode_all(bulk, *static_cast<const std::vector<bench::Large> *>(messages), out, room);
}

extern "C" uint64_t our_cpp_parse_small(const uint8_t *bytes, size_t len) {
  BufferReader reader(standard, bench::lookup, bytes, len);
  uint64_t sum = 0;
  while (const auto frame = reader.next_frame()) {
    bench::Small message;
    if (read(message, standard, *frame) == Status::Ok) sum += uint64_t(message.stamp) + message.status;
  }
  return sum;
}

extern "C" uint64_t our_cpp_parse_large(const uint8_t *bytes, size_t len) {
  BufferReader reader(bulk, bench::lookup, bytes, len);
  uint64_t sum = 0;
  while (const auto frame = reader.next_frame()) {
    bench::Large message;
    if (read(message, bulk, *frame) == Status::Ok) sum += uint64_t(message.stamp) + message.body[2047];
  }
  return sum;
}

extern "C" uint64_t our_cpp_frames_large(const uint8_t *bytes, size_t len) {
  BufferReader reader(bulk, bench::lookup, bytes, len);
  uint64_t sum = 0;
  while (const auto frame = reader.next_frame()) sum += frame->payload[0] + frame->payload[frame->payload_length - 1];
  return sum;
}

extern "C" uint64_t our_cpp_chunked_small(const uint8_t *bytes, size_t len, size_t chunk) {
  Stream<1024> stream(standard, bench::lookup);
  uint64_t sum = 0;
  const auto add = [&sum](const Event &event) {
    bench::Small message;
    if (read(message, standard, event) == Status::Ok) sum += uint64_t(message.stamp) + message.status;
  };
  for (size_t at = 0; at < len; at += chunk) stream.feed(bytes + at, len - at < chunk ? len - at : chunk, add);
  return sum;
}

extern "C" uint64_t our_cpp_bytewise_small(const uint8_t *bytes, size_t len) {
  Stream<1024> stream(standard, bench::lookup);
  uint64_t sum = 0;
  const auto add = [&sum](const Event &event) {
    bench::Small message;
    if (read(message, standard, event) == Status::Ok) sum += uint64_t(message.stamp) + message.status;
  };
  for (size_t i = 0; i < len; i++) stream.feed(bytes + i, 1, add);
  return sum;
}
