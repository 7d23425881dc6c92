// struct-frame: what payloads need to know about a union. A fixed part of the code that `fw gen` writes for C#.

namespace StructFrameRuntime
{
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
}
