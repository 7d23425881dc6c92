// struct-frame: bytes of the input. A fixed part of the code that `fw gen` writes for C#.

using System;

namespace StructFrameRuntime
{
    /// <summary>Bytes of the input that are at hand; all positions are absolute.</summary>
    internal struct Window
    {
        internal readonly byte[] Bytes;
        internal readonly long Base;
        private readonly int count;

        internal Window(byte[] bytes, int count, long start)
        {
            Bytes = bytes;
            this.count = count;
            Base = start;
        }

        internal long End => Base + count;

        internal int Place(long at)
        {
            return (int)Math.Min(Math.Max(at - Base, 0), count);
        }
    }
}
