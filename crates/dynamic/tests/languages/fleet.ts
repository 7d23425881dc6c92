// Two frames, written by the reference's generated TypeScript, to standard output.
import { Pose, Scan } from './generated/ts/fleet.structframe';
import { ProfileStandardConfig, encodeMessage } from './generated/ts/frame-profiles';

const pose = new Pose({ stamp: 3000000000, x: -1.5, ok: true, status: 513 });
const scan = new Scan({ n: 2, vCount: 2, vData: [258, 65535, 0, 0], sLength: 3, sData: 'hey' });
for (const message of [pose, scan]) process.stdout.write(encodeMessage(ProfileStandardConfig, message));
