"""Two frames, written by the reference's generated Python, to standard output."""

import sys

sys.path.insert(0, "generated/py")
# The generated package has the name of the generator; here it is only what was generated.
from struct_frame.generated.fleet import Pose, Scan  # noqa: E402
import frame_profiles  # noqa: E402

standard = frame_profiles.PROFILE_STANDARD_CONFIG
pose = Pose(stamp=3_000_000_000, x=-1.5, ok=True, status=513)
scan = Scan(n=2, v=[258, 65535], s=b"hey")
for message in (pose, scan):
    sys.stdout.buffer.write(bytes(frame_profiles.encode_message(standard, message)))
