// Two frames, written by the reference's generated C++, to standard output.

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fleet.structframe.hpp"
#include "frame_profiles.hpp"

using namespace structframe;

int main() {
  uint8_t out[128];
  BufferWriter<ProfileStandardConfig> writer(out, sizeof out);
  fleet::Pose pose{};
  pose.stamp = 3000000000u;
  pose.x = -1.5f;
  pose.ok = true;
  pose.status = 513;
  fleet::Scan scan{};
  scan.n = 2;
  scan.v.count = 2;
  scan.v.data[0] = 258;
  scan.v.data[1] = 65535;
  scan.s.length = 3;
  std::memcpy(scan.s.data, "hey", 3);
  size_t at = writer.write(pose);
  at += writer.write(scan);
  return std::fwrite(out, 1, at, stdout) != at;
}
