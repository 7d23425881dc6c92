// struct-frame: equality, hashes and new values of fields. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;

namespace StructFrameRuntime
{
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
}
