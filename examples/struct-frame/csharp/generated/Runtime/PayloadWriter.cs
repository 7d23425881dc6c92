// struct-frame: writes payloads. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;

namespace StructFrameRuntime
{
    /// <summary>Writes a payload, one field after the other. Used by generated code.</summary>
    public sealed class PayloadWriter
    {
        private readonly byte[] bytes;
        private readonly bool trim;
        private int at;
        private int depth;

        /// <summary>A writer for up to <paramref name="capacity"/> bytes.</summary>
        public PayloadWriter(int capacity, Layout layout)
        {
            bytes = new byte[capacity];
            trim = layout == Layout.Wire;
        }

        /// <summary>True for the fields of a variable message in the wire layout; nested messages are never trimmed.</summary>
        public bool Trims => trim && depth == 0;

        /// <summary>Bytes written.</summary>
        public int Length => at;

        /// <summary>What was written.</summary>
        public byte[] ToArray()
        {
            if (at == bytes.Length)
            {
                return bytes;
            }
            var copy = new byte[at];
            Buffer.BlockCopy(bytes, 0, copy, 0, at);
            return copy;
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

        /// <summary>uint8, and enums.</summary>
        public void UInt8(byte value)
        {
            bytes[at++] = value;
        }

        /// <summary>int8.</summary>
        public void Int8(sbyte value)
        {
            bytes[at++] = unchecked((byte)value);
        }

        /// <summary>bool.</summary>
        public void Bool(bool value)
        {
            bytes[at++] = value ? (byte)1 : (byte)0;
        }

        /// <summary>uint16.</summary>
        public void UInt16(ushort value)
        {
            unchecked
            {
                bytes[at] = (byte)value;
                bytes[at + 1] = (byte)(value >> 8);
            }
            at += 2;
        }

        /// <summary>int16.</summary>
        public void Int16(short value)
        {
            UInt16(unchecked((ushort)value));
        }

        /// <summary>uint32.</summary>
        public void UInt32(uint value)
        {
            unchecked
            {
                bytes[at] = (byte)value;
                bytes[at + 1] = (byte)(value >> 8);
                bytes[at + 2] = (byte)(value >> 16);
                bytes[at + 3] = (byte)(value >> 24);
            }
            at += 4;
        }

        /// <summary>int32.</summary>
        public void Int32(int value)
        {
            UInt32(unchecked((uint)value));
        }

        /// <summary>uint64.</summary>
        public void UInt64(ulong value)
        {
            UInt32(unchecked((uint)value));
            UInt32(unchecked((uint)(value >> 32)));
        }

        /// <summary>int64.</summary>
        public void Int64(long value)
        {
            UInt64(unchecked((ulong)value));
        }

        /// <summary>float.</summary>
        public void Single(float value)
        {
            UInt32(new SingleBits { Value = value }.Bits);
        }

        /// <summary>double.</summary>
        public void Double(double value)
        {
            Int64(BitConverter.DoubleToInt64Bits(value));
        }

        /// <summary>Text with its length in front.</summary>
        public void Text(string value, int limit, string field)
        {
            Counted(Utf8.Encode(Given(value, field)), limit, field);
        }

        /// <summary>A blob with its length in front.</summary>
        public void Blob(byte[] value, int limit, string field)
        {
            Counted(Given(value, field), limit, field);
        }

        /// <summary>Text padded with zeros.</summary>
        public void FixedText(string value, int size, string field)
        {
            byte[] content = Utf8.Encode(Given(value, field));
            Fits(content.Length, size, field);
            int zero = Array.IndexOf(content, (byte)0);
            if (zero >= 0)
            {
                throw new StructFrameException(
                    "text_with_zero", field + ": the zero byte at " + zero + " would end this fixed text");
            }
            Raw(content);
            Zeros(size - content.Length);
        }

        /// <summary>A blob of exactly this size.</summary>
        public void FixedBlob(byte[] value, int size, string field)
        {
            Exact(Given(value, field).Length, size, field);
            Raw(value);
        }

        /// <summary>An array of exactly this size.</summary>
        public void Fixed<T>(T[] value, int size, string field, Action<T> write)
        {
            Exact(Given(value, field).Length, size, field);
            Each(value, write);
        }

        /// <summary>An array with its count in front.</summary>
        public void Bounded<T>(List<T> value, int limit, int unit, string field, Action<T> write)
        {
            Fits(Given(value, field).Count, limit, field);
            Prefix(value.Count, limit);
            Each(value, write);
            Pad(limit - value.Count, unit);
        }

        /// <summary>Begins the member of a union, behind its tag.</summary>
        /// <returns>Where it begins.</returns>
        public int OpenUnion(UnionSpec union)
        {
            if (Trims && union.Wire == UnionWire.Prefixed)
            {
                UInt16(0);
            }
            // Members have their own size, never less.
            Enter();
            return at;
        }

        /// <summary>What a union with an unknown tag holds.</summary>
        public void Unknown(UnionSpec union, byte[] region)
        {
            Exact(Given(region, union.Field).Length, union.Region, union.Field);
            bool whole = !trim || depth > 1 || union.Wire == UnionWire.Full;
            Raw(whole ? region : Significant(region));
        }

        /// <summary>Ends the member of a union: zeros up to what it must have.</summary>
        public void CloseUnion(UnionSpec union, int begin)
        {
            Leave();
            bool whole = !Trims || union.Wire == UnionWire.Full;
            Zeros(begin + (whole ? union.Region : union.MinSize) - at);
            if (!whole && union.Wire == UnionWire.Prefixed)
            {
                bytes[begin - 2] = (byte)((at - begin) & 0xff);
                bytes[begin - 1] = (byte)((at - begin) >> 8);
            }
        }

        /// <summary>These bytes.</summary>
        public void Raw(byte[] value)
        {
            Buffer.BlockCopy(value, 0, bytes, at, value.Length);
            at += value.Length;
        }

        /// <summary>Zeros.</summary>
        public void Zeros(int count)
        {
            at += Math.Max(count, 0);
        }

        /// <summary>Something that must be there.</summary>
        public static T Given<T>(T value, string field)
            where T : class
        {
            if (value == null)
            {
                throw new StructFrameException("missing_value", field + " is null");
            }
            return value;
        }

        /// <summary>Up to the last byte that says something.</summary>
        private static byte[] Significant(byte[] region)
        {
            int length = region.Length;
            while (length > 0 && region[length - 1] == 0)
            {
                length--;
            }
            var copy = new byte[length];
            Buffer.BlockCopy(region, 0, copy, 0, length);
            return copy;
        }

        private void Counted(byte[] content, int limit, string field)
        {
            Fits(content.Length, limit, field);
            Prefix(content.Length, limit);
            Raw(content);
            Pad(limit - content.Length, 1);
        }

        /// <summary>The unused room of a bounded field, where it is not trimmed.</summary>
        private void Pad(int unused, int unit)
        {
            if (!Trims)
            {
                Zeros(unused * unit);
            }
        }

        /// <summary>Elements are never trimmed.</summary>
        private void Each<T>(IEnumerable<T> values, Action<T> write)
        {
            Enter();
            foreach (T value in values)
            {
                write(value);
            }
            Leave();
        }

        private void Prefix(int count, int limit)
        {
            UInt8((byte)(count & 0xff));
            if (limit > 255)
            {
                UInt8((byte)(count >> 8));
            }
        }

        private static void Fits(int length, int limit, string field)
        {
            if (length > limit)
            {
                throw new StructFrameException("too_long", field + ": " + length + " exceeds the bound " + limit);
            }
        }

        private static void Exact(int length, int size, string field)
        {
            if (length != size)
            {
                throw new StructFrameException("wrong_length", field + ": " + length + ", expected exactly " + size);
            }
        }
    }
}
