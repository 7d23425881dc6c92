// struct-frame: what generated messages read and write payloads with. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

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

    /// <summary>How a union is written in the wire layout of a variable message.</summary>
    public enum UnionWire
    {
        /// <summary>Tag and the whole region, as in the fixed layout.</summary>
        Full,
        /// <summary>Tag and the member's own bytes.</summary>
        Trimmed,
        /// <summary>Tag, a two-byte length, and that many bytes.</summary>
        Prefixed,
    }

    /// <summary>What the schema says about a union. Used by generated code.</summary>
    public sealed class UnionSpec
    {
        /// <summary>These values.</summary>
        public UnionSpec(string field, UnionWire wire, int region, int baseRegion, int minSize, bool last)
        {
            Field = field;
            Wire = wire;
            Region = region;
            BaseRegion = baseRegion;
            MinSize = minSize;
            Last = last;
        }

        /// <summary>Its name.</summary>
        public string Field { get; }

        /// <summary>How it is written.</summary>
        public UnionWire Wire { get; }

        /// <summary>Bytes of its place in the fixed layout, behind the tag.</summary>
        public int Region { get; }

        /// <summary>Bytes of it that are not an extension.</summary>
        public int BaseRegion { get; }

        /// <summary>Fewest bytes of a trimmed or prefixed member.</summary>
        public int MinSize { get; }

        /// <summary>True when nothing follows it.</summary>
        public bool Last { get; }
    }

    /// <summary>Equality and new values. Used by generated code.</summary>
    public static class Values
    {
        /// <summary>A filled array.</summary>
        public static T[] Filled<T>(int count, Func<T> make)
        {
            var all = new T[count];
            for (int i = 0; i < count; i++)
            {
                all[i] = make();
            }
            return all;
        }

        /// <summary>True when both hold the same elements.</summary>
        public static bool Same<T>(IReadOnlyList<T> a, IReadOnlyList<T> b)
        {
            if (ReferenceEquals(a, b))
            {
                return true;
            }
            if (a == null || b == null || a.Count != b.Count)
            {
                return false;
            }
            for (int i = 0; i < a.Count; i++)
            {
                if (!Same(a[i], b[i]))
                {
                    return false;
                }
            }
            return true;
        }

        /// <summary>True when both are equal; blobs are compared by their bytes, and a NaN equals itself.</summary>
        public static bool Same(object a, object b)
        {
            var blob = a as byte[];
            return blob != null ? Same<byte>(blob, b as byte[]) : Equals(a, b);
        }

        /// <summary>A hash of the elements.</summary>
        public static int Hash<T>(IReadOnlyList<T> values)
        {
            int hash = 17;
            for (int i = 0; values != null && i < values.Count; i++)
            {
                hash = Hash(hash, values[i]);
            }
            return hash;
        }

        /// <summary>A hash with one more value in it.</summary>
        public static int Hash(int hash, object value)
        {
            var blob = value as byte[];
            int own = value == null ? 0 : blob != null ? Hash<byte>(blob) : value.GetHashCode();
            return unchecked((hash * 31) + own);
        }

        /// <summary>A value for people.</summary>
        public static string Show(object value)
        {
            var text = value as string;
            if (text != null)
            {
                return "\"" + text + "\"";
            }
            var blob = value as byte[];
            if (blob != null)
            {
                return BitConverter.ToString(blob);
            }
            var many = value as System.Collections.IEnumerable;
            if (many == null)
            {
                return Convert.ToString(value, System.Globalization.CultureInfo.InvariantCulture);
            }
            var parts = new List<string>();
            foreach (object one in many)
            {
                parts.Add(Show(one));
            }
            return "[" + string.Join(", ", parts.ToArray()) + "]";
        }
    }

    /// <summary>UTF-8 that loses nothing: a byte that is not UTF-8 becomes U+DC80 to U+DCFF and comes back as it was.</summary>
    internal static class Utf8
    {
        private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

        internal static string Decode(byte[] bytes)
        {
            try
            {
                return Strict.GetString(bytes);
            }
            catch (ArgumentException)
            {
                return DecodeEscaped(bytes);
            }
        }

        internal static byte[] Encode(string text)
        {
            try
            {
                return Strict.GetBytes(text);
            }
            catch (ArgumentException)
            {
                return EncodeEscaped(text);
            }
        }

        private static string DecodeEscaped(byte[] bytes)
        {
            var text = new StringBuilder();
            int at = 0;
            while (at < bytes.Length)
            {
                int length = Sequence(bytes, at);
                if (length == 0)
                {
                    text.Append((char)(0xdc00 + bytes[at]));
                    at++;
                }
                else
                {
                    text.Append(Strict.GetString(bytes, at, length));
                    at += length;
                }
            }
            return text.ToString();
        }

        /// <summary>Bytes of the character at this place; 0 when there is none.</summary>
        private static int Sequence(byte[] bytes, int at)
        {
            byte first = bytes[at];
            int length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
            if (length == 0 || at + length > bytes.Length)
            {
                return 0;
            }
            for (int i = 1; i < length; i++)
            {
                if ((bytes[at + i] & 0xc0) != 0x80)
                {
                    return 0;
                }
            }
            if (length < 3)
            {
                return length;
            }
            byte second = bytes[at + 1];
            bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)
                || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
            return wrong ? 0 : length;
        }

        private static byte[] EncodeEscaped(string text)
        {
            var bytes = new List<byte>();
            for (int i = 0; i < text.Length; i++)
            {
                char unit = text[i];
                bool pair = char.IsHighSurrogate(unit) && i + 1 < text.Length && char.IsLowSurrogate(text[i + 1]);
                if (pair)
                {
                    bytes.AddRange(Strict.GetBytes(text.Substring(i, 2)));
                    i++;
                }
                else if (unit >= 0xdc80 && unit <= 0xdcff)
                {
                    bytes.Add((byte)(unit - 0xdc00));
                }
                else if (char.IsSurrogate(unit))
                {
                    throw new StructFrameException("not_text", "half of a surrogate pair at " + i);
                }
                else
                {
                    bytes.AddRange(Strict.GetBytes(text.Substring(i, 1)));
                }
            }
            return bytes.ToArray();
        }
    }

    /// <summary>The bits of a float, without unsafe code and on every framework.</summary>
    [StructLayout(LayoutKind.Explicit)]
    internal struct SingleBits
    {
        [FieldOffset(0)]
        internal float Value;

        [FieldOffset(0)]
        internal uint Bits;
    }
}
