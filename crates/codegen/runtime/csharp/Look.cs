// struct-frame: what a reader sees at one position. A fixed part of the code that `fw gen` writes for C#.

using System;

namespace StructFrameRuntime
{
    /// <summary>What stands at a position.</summary>
    internal struct Look
    {
        internal LookKind Kind;
        internal int Length;
        internal ushort Id;
        internal Header Header;
        internal MessageInfo Info;

        /// <summary>Looks at <c>length</c> bytes from <c>start</c> on.</summary>
        internal static Look At(Framing framing, MessageTable table, byte[] bytes, int start, int length)
        {
            if (framing.Header != HeaderKind.None && length > 0)
            {
                int at = Array.IndexOf(bytes, framing.FirstStart, start, length);
                if (at != start)
                {
                    return new Look { Kind = LookKind.Noise, Length = at < 0 ? length : at - start };
                }
            }
            if (framing.Header == HeaderKind.Basic)
            {
                if (length < 2)
                {
                    return new Look { Kind = LookKind.Short, Length = 2 };
                }
                byte second = bytes[start + 1];
                if (second == framing.FirstStart)
                {
                    return new Look { Kind = LookKind.Noise, Length = 1 };
                }
                if (second != framing.SecondStart)
                {
                    return new Look { Kind = LookKind.FalseStart, Length = 2 };
                }
            }
            if (length < framing.HeaderLength)
            {
                return new Look { Kind = LookKind.Short, Length = framing.HeaderLength };
            }
            int next = start + framing.StartLength;
            byte sequence = framing.HasSequence ? bytes[next++] : (byte)0;
            byte system = framing.HasSystem ? bytes[next++] : (byte)0;
            byte component = framing.HasSystem ? bytes[next++] : (byte)0;
            int payload = framing.LengthBytes > 0 ? bytes[next++] : 0;
            if (framing.LengthBytes > 1)
            {
                payload |= bytes[next++] << 8;
            }
            int package = framing.HasPackage ? bytes[next++] : 0;
            var look = new Look
            {
                Id = (ushort)((package << 8) | bytes[next]),
                Header = new Header(sequence, system, component),
            };
            look.Info = table.Find(look.Id);
            if (!framing.HasLength)
            {
                if (look.Info == null)
                {
                    return new Look { Kind = LookKind.Noise, Length = 1 };
                }
                payload = look.Info.MaxSize;
            }
            look.Length = framing.Overhead + payload;
            look.Kind = length < look.Length ? LookKind.Claims : LookKind.Whole;
            return look;
        }

        /// <summary>True when the checksum of the whole frame at <c>start</c> is right, or its framing has none.</summary>
        internal bool Verify(Framing framing, byte[] bytes, int start)
        {
            if (!framing.HasLength)
            {
                return true;
            }
            int sum = framing.Checksum(bytes, start, Length - framing.Overhead, Info);
            int trailer = start + Length - 2;
            return sum == (bytes[trailer] | (bytes[trailer + 1] << 8));
        }
    }

    /// <summary>How much of a frame it is.</summary>
    internal enum LookKind
    {
        /// <summary>No frame begins within this many bytes.</summary>
        Noise,
        /// <summary>Two bytes: the first start byte, and not the second.</summary>
        FalseStart,
        /// <summary>Perhaps a frame; this many bytes will tell more.</summary>
        Short,
        /// <summary>A header whose frame is not all there.</summary>
        Claims,
        /// <summary>A header whose frame is all there.</summary>
        Whole,
    }
}
