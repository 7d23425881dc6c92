// struct-frame: what is thrown. A fixed part of the code that `fw gen` writes for C#.

using System;

namespace StructFrameRuntime
{
    /// <summary>Why something cannot be read or written; <see cref="Code"/> is stable.</summary>
    public sealed class StructFrameException : Exception
    {
        /// <summary>A fault with a stable code.</summary>
        public StructFrameException(string code, string message)
            : base(message)
        {
            Code = code;
        }

        /// <summary>Stable code, such as <c>too_long</c>.</summary>
        public string Code { get; }
    }
}
