// struct-frame: text that loses nothing. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;
using System.Text;

namespace StructFrameRuntime
{
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
}
