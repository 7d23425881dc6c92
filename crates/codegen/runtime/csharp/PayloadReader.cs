// struct-frame: reads payloads. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;

namespace StructFrameRuntime
{
    /// <summary>Reads a payload, one field after the other. Used by generated code.</summary>
    public sealed class PayloadReader
    {
        private readonly byte[] bytes;
        private readonly bool trim;
        private readonly int end;
        private int at;
        private int depth;

        /// <summary>Reads a part of <paramref name="bytes"/>.</summary>
        public PayloadReader(byte[] bytes, int offset, int count, Layout layout)
        {
            this.bytes = bytes;
            at = offset;
            end = offset + count;
            trim = layout == Layout.Wire;
        }

        /// <summary>Makes a message of a nested or fixed layout.</summary>
        public delegate T Take<T>(PayloadReader reader);

        /// <summary>True for the fields of a variable message in the wire layout; nested messages are never trimmed.</summary>
        public bool Trims => trim && depth == 0;

        /// <summary>Bytes that are left.</summary>
        public int Left => end - at;

        /// <summary>Reads the fixed layout of a message; missing bytes are those of a new one, surplus ones are
        /// ignored.</summary>
        public static T ReadFixed<T>(byte[] bytes, int offset, int count, int size, Func<byte[]> defaults, Take<T> take)
        {
            if (count < size)
            {
                byte[] image = defaults();
                Buffer.BlockCopy(bytes, offset, image, 0, count);
                bytes = image;
                offset = 0;
            }
            return take(new PayloadReader(bytes, offset, size, Layout.Fixed));
        }

        /// <summary>What follows is part of a nested message, or of a message that is not variable.</summary>
        public void Enter()
        {
            depth++;
        }

        /// <summary>The end of what <see cref="Enter"/> began.</summary>
        public void Leave()
        {
            depth--;
        }

        /// <summary>Makes sure that so many bytes are there.</summary>
        public void Need(int count, string field)
        {
            if (Left < count)
            {
                throw new StructFrameException(
                    "truncated", "need " + count + " bytes for " + field + ", have " + Left + " at byte " + at);
            }
        }

        /// <summary>uint8, and enums.</summary>
        public byte UInt8(string field)
        {
            Need(1, field);
            return bytes[at++];
        }

        /// <summary>int8.</summary>
        public sbyte Int8(string field)
        {
            return unchecked((sbyte)UInt8(field));
        }

        /// <summary>bool: any byte but zero is true.</summary>
        public bool Bool(string field)
        {
            return UInt8(field) != 0;
        }

        /// <summary>uint16.</summary>
        public ushort UInt16(string field)
        {
            Need(2, field);
            at += 2;
            return (ushort)(bytes[at - 2] | (bytes[at - 1] << 8));
        }

        /// <summary>int16.</summary>
        public short Int16(string field)
        {
            return unchecked((short)UInt16(field));
        }

        /// <summary>uint32.</summary>
        public uint UInt32(string field)
        {
            Need(4, field);
            at += 4;
            return bytes[at - 4] | ((uint)bytes[at - 3] << 8) | ((uint)bytes[at - 2] << 16) | ((uint)bytes[at - 1] << 24);
        }

        /// <summary>int32.</summary>
        public int Int32(string field)
        {
            return unchecked((int)UInt32(field));
        }

        /// <summary>uint64.</summary>
        public ulong UInt64(string field)
        {
            Need(8, field);
            uint low = UInt32(field);
            return low | ((ulong)UInt32(field) << 32);
        }

        /// <summary>int64.</summary>
        public long Int64(string field)
        {
            return unchecked((long)UInt64(field));
        }

        /// <summary>float.</summary>
        public float Single(string field)
        {
            return new SingleBits { Bits = UInt32(field) }.Value;
        }

        /// <summary>double.</summary>
        public double Double(string field)
        {
            return BitConverter.Int64BitsToDouble(Int64(field));
        }

        /// <summary>Text with its length in front.</summary>
        public string Text(int limit, string field)
        {
            return Utf8.Decode(Blob(limit, field));
        }

        /// <summary>A blob with its length in front.</summary>
        public byte[] Blob(int limit, string field)
        {
            byte[] content = Raw(Count(limit, 1, field), field);
            Pad(limit - content.Length, 1);
            return content;
        }

        /// <summary>Text up to the first zero.</summary>
        public string FixedText(int size, string field)
        {
            byte[] content = Raw(size, field);
            int zero = Array.IndexOf(content, (byte)0);
            if (zero >= 0)
            {
                Array.Resize(ref content, zero);
            }
            return Utf8.Decode(content);
        }

        /// <summary>An array of exactly this size.</summary>
        public T[] Fixed<T>(int size, string field, Func<string, T> read)
        {
            var all = new T[size];
            Enter();
            for (int i = 0; i < size; i++)
            {
                all[i] = read(field);
            }
            Leave();
            return all;
        }

        /// <summary>An array with its count in front.</summary>
        public List<T> Bounded<T>(int limit, int unit, string field, Func<string, T> read)
        {
            int count = Count(limit, unit, field);
            var all = new List<T>(count);
            Enter();
            for (int i = 0; i < count; i++)
            {
                all.Add(read(field));
            }
            Leave();
            Pad(limit - count, unit);
            return all;
        }

        /// <summary>False when an extension field of this size is not all there; then nothing behind it is.</summary>
        public bool HasField(int size)
        {
            return !Trims || Left >= size;
        }

        /// <summary>False when a bounded extension field is not all there; then nothing behind it is.</summary>
        public bool HasCounted(int limit, int unit, string field)
        {
            int prefix = limit > 255 ? 2 : 1;
            if (!Trims || Left < prefix)
            {
                return !Trims;
            }
            int count = prefix > 1 ? bytes[at] | (bytes[at + 1] << 8) : bytes[at];
            return count > limit || Left >= prefix + (count * unit);
        }

        /// <summary>A reader for the member of a union, behind its tag: so many bytes, of which missing ones are zeros or
        /// <paramref name="defaults"/>.</summary>
        public PayloadReader Member(UnionSpec union, int size, Func<byte[]> defaults = null)
        {
            int count = MemberLength(union, size);
            bool fill = defaults != null && count < size && union.Wire == UnionWire.Prefixed;
            byte[] image = fill ? defaults() : new byte[size];
            Copy(image, count, union.Field);
            return new PayloadReader(image, 0, size, Layout.Fixed);
        }

        /// <summary>What a union holds, whatever it is: for unknown tags, and for unions without one.</summary>
        public byte[] Unknown(UnionSpec union, int tag)
        {
            bool trimmed = Trims && union.Wire == UnionWire.Trimmed;
            if (trimmed && !union.Last)
            {
                throw new StructFrameException(
                    "unknown_tag", union.Field + ": unknown tag " + tag + " before byte " + at + " hides what follows");
            }
            var region = new byte[union.Region];
            Copy(region, trimmed ? Left : MemberLength(union, 0), union.Field);
            return region;
        }

        /// <summary>So many bytes.</summary>
        public byte[] Raw(int count, string field)
        {
            Need(count, field);
            var content = new byte[count];
            Buffer.BlockCopy(bytes, at, content, 0, count);
            at += count;
            return content;
        }

        /// <summary>Bytes of the union on the wire, given the member's own.</summary>
        private int MemberLength(UnionSpec union, int size)
        {
            if (!Trims)
            {
                return union.Region;
            }
            switch (union.Wire)
            {
                case UnionWire.Prefixed:
                    return UInt16(union.Field);
                case UnionWire.Trimmed:
                    return Math.Max(size, union.MinSize);
                default:
                    // An older sender's region ends with its base.
                    return Math.Min(union.Region, Math.Max(Left, union.BaseRegion));
            }
        }

        private void Copy(byte[] to, int count, string field)
        {
            Need(count, field);
            Buffer.BlockCopy(bytes, at, to, 0, Math.Min(count, to.Length));
            at += count;
        }

        /// <summary>The count of a bounded field: in the fixed layout, no more than the bound.</summary>
        private int Count(int limit, int unit, string field)
        {
            int begin = at;
            int count = limit > 255 ? UInt16(field) : UInt8(field);
            if (!Trims)
            {
                return Math.Min(count, limit);
            }
            if (count > limit)
            {
                throw new StructFrameException(
                    "too_long", field + ": " + count + " exceeds the bound " + limit + " at byte " + begin);
            }
            Need(count * unit, field);
            return count;
        }

        /// <summary>Passes over the unused room of a bounded field, where it is not trimmed.</summary>
        private void Pad(int unused, int unit)
        {
            if (!Trims)
            {
                at += unused * unit;
            }
        }
    }
}
