// struct-frame: the bits of a float. A fixed part of the code that `fw gen` writes for C#.

using System.Runtime.InteropServices;

namespace StructFrameRuntime
{
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
