// struct-frame: what readers count. A fixed part of the code that `fw gen` writes for C#.

using System;

namespace StructFrameRuntime
{
    /// <summary>What a reader has counted. Counters stop at their largest value.</summary>
    public sealed class Counters
    {
        /// <summary>Good frames, recovered ones included.</summary>
        public uint Frames { get; internal set; }

        /// <summary>Good frames found inside damaged bytes.</summary>
        public uint Recovered { get; internal set; }

        /// <summary>Good frames of unknown ids.</summary>
        public uint UnknownIds { get; internal set; }

        /// <summary>Complete frames with a wrong checksum.</summary>
        public uint CrcFailures { get; internal set; }

        /// <summary>Wrong checksums, and start bytes that turned out to begin nothing.</summary>
        public uint SyncRecoveries { get; internal set; }

        /// <summary>Bytes of both.</summary>
        public uint FailedBytes { get; internal set; }

        /// <summary>Bytes outside frames that did not even look like a start.</summary>
        public uint NoiseBytes { get; internal set; }

        /// <summary>Frames whose length lies outside the sizes of their message. Newer peers may send such frames.</summary>
        public uint LenErrors { get; internal set; }

        /// <summary>Good frames whose sequence number is not the one after the frame before.</summary>
        public uint SeqGaps { get; internal set; }

        internal static uint More(uint counter, long more)
        {
            return (uint)Math.Min(uint.MaxValue, counter + more);
        }
    }
}
