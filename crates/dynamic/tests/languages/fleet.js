// Two frames, written by the reference's generated JavaScript, to standard output.
const { Pose, Scan } = require(process.cwd() + '/generated/js/fleet.structframe.js');
const { ProfileStandardConfig, encodeMessage } = require(process.cwd() + '/generated/js/frame-profiles.js');

const pose = new Pose({ stamp: 3000000000, x: -1.5, ok: true, status: 513 });
const scan = new Scan({ n: 2, vCount: 2, vData: [258, 65535, 0, 0], sLength: 3, sData: 'hey' });
for (const message of [pose, scan]) process.stdout.write(Buffer.from(encodeMessage(ProfileStandardConfig, message)));
