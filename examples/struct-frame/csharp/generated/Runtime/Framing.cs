// struct-frame: framings, and how frames are written. A fixed part of the code that `fw gen` writes for C#.

using System;

namespace StructFrameRuntime
{
    /// <summary>Which start bytes a frame has.</summary>
    public enum HeaderKind
    {
        /// <summary>None.</summary>
        None,
        /// <summary>One: 0x70 + T.</summary>
        Tiny,
        /// <summary>Two: 0x90 and 0x70 + T.</summary>
        Basic,
    }

    /// <summary>What follows the start bytes; the number is T.</summary>
    public enum PayloadKind
    {
        /// <summary>MSG, payload.</summary>
        Minimal = 0,
        /// <summary>LEN8, MSG, payload, checksum.</summary>
        Default = 1,
        /// <summary>LEN8, PKG, MSG, payload, checksum.</summary>
        ExtendedMsgIds = 2,
        /// <summary>LEN16, MSG, payload, checksum.</summary>
        ExtendedLength = 3,
        /// <summary>LEN16, PKG, MSG, payload, checksum.</summary>
        Extended = 4,
        /// <summary>SYS, COMP, LEN8, MSG, payload, checksum.</summary>
        SysComp = 5,
        /// <summary>SEQ, LEN8, MSG, payload, checksum.</summary>
        Seq = 6,
        /// <summary>SEQ, SYS, COMP, LEN8, MSG, payload, checksum.</summary>
        MultiSystemStream = 7,
        /// <summary>SEQ, SYS, COMP, LEN16, PKG, MSG, payload, checksum.</summary>
        ExtendedMultiSystemStream = 8,
    }

    /// <summary>Which of the two layouts a payload has: the framing decides.</summary>
    public enum Layout
    {
        /// <summary>What framings with a length carry (Standard, Bulk, Network).</summary>
        Wire,
        /// <summary>What framings without a length carry (Sensor, Ipc).</summary>
        Fixed,
    }

    /// <summary>What a frame says besides its payload; zero where its framing has no such field.</summary>
    public struct Header : IEquatable<Header>
    {
        /// <summary>These three.</summary>
        public Header(byte sequence, byte system, byte component)
        {
            Sequence = sequence;
            System = system;
            Component = component;
        }

        /// <summary>SEQ.</summary>
        public byte Sequence { get; }

        /// <summary>SYS.</summary>
        public byte System { get; }

        /// <summary>COMP.</summary>
        public byte Component { get; }

        /// <inheritdoc/>
        public bool Equals(Header other)
        {
            return Sequence == other.Sequence && System == other.System && Component == other.Component;
        }

        /// <inheritdoc/>
        public override bool Equals(object obj)
        {
            return obj is Header other && Equals(other);
        }

        /// <inheritdoc/>
        public override int GetHashCode()
        {
            return (Sequence << 16) | (System << 8) | Component;
        }
    }

    /// <summary>A header kind and a payload kind: which bytes stand around a payload.</summary>
    public sealed class Framing
    {
        /// <summary>Basic + Default.</summary>
        public static readonly Framing Standard = new Framing(HeaderKind.Basic, PayloadKind.Default);

        /// <summary>Tiny + Minimal.</summary>
        public static readonly Framing Sensor = new Framing(HeaderKind.Tiny, PayloadKind.Minimal);

        /// <summary>None + Minimal.</summary>
        public static readonly Framing Ipc = new Framing(HeaderKind.None, PayloadKind.Minimal);

        /// <summary>Basic + Extended.</summary>
        public static readonly Framing Bulk = new Framing(HeaderKind.Basic, PayloadKind.Extended);

        /// <summary>Basic + ExtendedMultiSystemStream.</summary>
        public static readonly Framing Network =
            new Framing(HeaderKind.Basic, PayloadKind.ExtendedMultiSystemStream);

        internal readonly int LengthBytes;

        /// <summary>A framing of these two.</summary>
        public Framing(HeaderKind header, PayloadKind payload)
        {
            Header = header;
            Payload = payload;
            HasSequence = payload >= PayloadKind.Seq;
            HasSystem = payload == PayloadKind.SysComp || payload >= PayloadKind.MultiSystemStream;
            HasPackage = payload == PayloadKind.ExtendedMsgIds
                || payload == PayloadKind.Extended
                || payload == PayloadKind.ExtendedMultiSystemStream;
            switch (payload)
            {
                case PayloadKind.Minimal:
                    LengthBytes = 0;
                    break;
                case PayloadKind.ExtendedLength:
                case PayloadKind.Extended:
                case PayloadKind.ExtendedMultiSystemStream:
                    LengthBytes = 2;
                    break;
                default:
                    LengthBytes = 1;
                    break;
            }
            StartLength = header == HeaderKind.None ? 0 : header == HeaderKind.Tiny ? 1 : 2;
            HeaderLength = StartLength + (HasSequence ? 1 : 0) + (HasSystem ? 2 : 0)
                + LengthBytes + (HasPackage ? 1 : 0) + 1;
        }

        /// <summary>Start bytes.</summary>
        public HeaderKind Header { get; }

        /// <summary>What follows them.</summary>
        public PayloadKind Payload { get; }

        /// <summary>True when frames carry a sequence number.</summary>
        public bool HasSequence { get; }

        /// <summary>True when frames carry system and component ids.</summary>
        public bool HasSystem { get; }

        /// <summary>True when frames carry the high byte of the id.</summary>
        public bool HasPackage { get; }

        /// <summary>True when frames say how long their payload is; exactly then they also have a checksum.</summary>
        public bool HasLength => LengthBytes > 0;

        /// <summary>Number of start bytes.</summary>
        public int StartLength { get; }

        /// <summary>Bytes before the payload.</summary>
        public int HeaderLength { get; }

        /// <summary>Bytes after the payload.</summary>
        public int TrailerLength => HasLength ? 2 : 0;

        /// <summary>Bytes before and after the payload.</summary>
        public int Overhead => HeaderLength + TrailerLength;

        /// <summary>The longest payload.</summary>
        public int MaxPayloadLength => LengthBytes == 1 ? 0xff : 0xffff;

        /// <summary>Which layout its payloads have.</summary>
        public Layout Layout => HasLength ? Layout.Wire : Layout.Fixed;

        internal byte FirstStart => Header == HeaderKind.Basic ? (byte)0x90 : SecondStart;

        internal byte SecondStart => (byte)(0x70 + (int)Payload);

        /// <summary>Writes a message as a frame.</summary>
        /// <exception cref="StructFrameException">The framing cannot carry it, or a value does not fit.</exception>
        public byte[] Write(IMessage message, Header header = default(Header))
        {
            return Write(message.Info, header, message.Encode(Layout));
        }

        /// <summary>Writes a frame around a payload in the layout of this framing.</summary>
        /// <exception cref="StructFrameException">The framing cannot carry it.</exception>
        public byte[] Write(MessageInfo info, Header header, byte[] payload)
        {
            if (info.Id > 0xff && !HasPackage)
            {
                throw new StructFrameException(
                    "id_too_large",
                    "id " + info.Id + " does not fit into a framing without package id (at most 255)");
            }
            if (!HasLength && payload.Length != info.MaxSize)
            {
                throw new StructFrameException(
                    "payload_not_whole",
                    "payload of " + payload.Length + " bytes, a framing without length needs exactly " + info.MaxSize);
            }
            if (payload.Length > MaxPayloadLength)
            {
                throw new StructFrameException(
                    "payload_too_long",
                    "payload of " + payload.Length + " bytes, the framing carries at most " + MaxPayloadLength);
            }
            var frame = new byte[Overhead + payload.Length];
            int at = 0;
            if (StartLength > 0)
            {
                frame[at++] = FirstStart;
            }
            if (StartLength > 1)
            {
                frame[at++] = SecondStart;
            }
            if (HasSequence)
            {
                frame[at++] = header.Sequence;
            }
            if (HasSystem)
            {
                frame[at++] = header.System;
                frame[at++] = header.Component;
            }
            if (LengthBytes > 0)
            {
                frame[at++] = (byte)(payload.Length & 0xff);
            }
            if (LengthBytes > 1)
            {
                frame[at++] = (byte)(payload.Length >> 8);
            }
            if (HasPackage)
            {
                frame[at++] = (byte)(info.Id >> 8);
            }
            frame[at++] = (byte)(info.Id & 0xff);
            Buffer.BlockCopy(payload, 0, frame, at, payload.Length);
            if (HasLength)
            {
                int sum = Checksum(frame, 0, payload.Length, info);
                frame[at + payload.Length] = (byte)(sum & 0xff);
                frame[at + payload.Length + 1] = (byte)(sum >> 8);
            }
            return frame;
        }

        /// <summary>The checksum of the frame at <c>start</c>: seeds behind the base part, or zeros behind an unknown
        /// message. The first sum is the low byte.</summary>
        internal int Checksum(byte[] bytes, int start, int payloadLength, MessageInfo info)
        {
            int payload = start + HeaderLength;
            int split = info == null ? payloadLength : Math.Min(info.BaseSize, payloadLength);
            uint a = 0;
            uint b = 0;
            unchecked
            {
                for (int i = start + StartLength; i < payload + split; i++)
                {
                    a += bytes[i];
                    b += a;
                }
                a += info == null ? 0u : info.Magic1;
                b += a;
                a += info == null ? 0u : info.Magic2;
                b += a;
                for (int i = payload + split; i < payload + payloadLength; i++)
                {
                    a += bytes[i];
                    b += a;
                }
            }
            return (int)((a & 0xff) | ((b & 0xff) << 8));
        }
    }
}
