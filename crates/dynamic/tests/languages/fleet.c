/* Two frames, written by the reference's generated C, to standard output. */

#include <stdint.h>
#include <stdio.h>

#include "fleet.structframe.h"
#include "frame_profiles.h"

int main(void) {
  uint8_t out[128], trimmed[FLEET_SCAN_MAX_SIZE];
  FleetPose pose = {3000000000u, -1.5f, true, 513};
  FleetScan scan = {2, {2, {258, 65535}}, {3, "hey"}};
  size_t len = FleetScan_serialize(&scan, trimmed);
  size_t at = profile_encode_message(&PROFILE_STANDARD_CONFIG, out, sizeof out, 0, 0, 0, 0, FLEET_POSE_MSG_ID,
                                     (const uint8_t *)&pose, sizeof pose, FLEET_POSE_BASE_SIZE, FLEET_POSE_MAGIC1,
                                     FLEET_POSE_MAGIC2);
  at += profile_encode_message(&PROFILE_STANDARD_CONFIG, out + at, sizeof out - at, 0, 0, 0, 0, FLEET_SCAN_MSG_ID, trimmed,
                               len, FLEET_SCAN_BASE_SIZE, FLEET_SCAN_MAGIC1, FLEET_SCAN_MAGIC2);
  return fwrite(out, 1, at, stdout) != at;
}
