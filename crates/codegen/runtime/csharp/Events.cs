// struct-frame: what readers find. A fixed part of the code that `fw gen` writes for C#.

namespace StructFrameRuntime
{
    /// <summary>What a reader found.</summary>
    public enum EventKind
    {
        /// <summary>A good frame.</summary>
        Frame,
        /// <summary>A complete frame whose checksum is wrong.</summary>
        BadChecksum,
        /// <summary>Bytes between frames.</summary>
        Skipped,
        /// <summary>A frame that was not complete when the input ended.</summary>
        Truncated,
    }

    /// <summary>What a reader found, and where.</summary>
    public sealed class Event
    {
        internal Event(EventKind kind, long start, long end, Frame frame)
        {
            Kind = kind;
            Start = start;
            End = end;
            Frame = frame;
        }

        /// <summary>What it is.</summary>
        public EventKind Kind { get; }

        /// <summary>Where it begins in the input.</summary>
        public long Start { get; }

        /// <summary>Where it ends in the input.</summary>
        public long End { get; }

        /// <summary>The frame; of one with a wrong checksum nothing can be relied upon; null for other events.</summary>
        public Frame Frame { get; }
    }

    /// <summary>A frame.</summary>
    public sealed class Frame
    {
        internal Frame(ushort id, Header header, byte[] payload, MessageInfo info, Framing framing, bool recovered)
        {
            Id = id;
            Header = header;
            Payload = payload;
            Info = info;
            Framing = framing;
            Recovered = recovered;
        }

        /// <summary>Effective id.</summary>
        public ushort Id { get; }

        /// <summary>SEQ, SYS and COMP.</summary>
        public Header Header { get; }

        /// <summary>The payload, in the layout of the framing.</summary>
        public byte[] Payload { get; }

        /// <summary>The message; null for an id that the table does not know.</summary>
        public MessageInfo Info { get; }

        /// <summary>How it was framed.</summary>
        public Framing Framing { get; }

        /// <summary>True when it was found inside damaged bytes.</summary>
        public bool Recovered { get; }

        /// <summary>The message in it; null for an unknown id.</summary>
        /// <exception cref="StructFrameException">Bytes are missing that must be there.</exception>
        public IMessage Decode()
        {
            return Info == null ? null : Info.Decode(Framing.Layout, Payload);
        }
    }
}
