// struct-frame: readers that lose no good frame. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;

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

    /// <summary>What a reader has counted. Counters stop at their largest value.</summary>
    public sealed class Counters
    {
        /// <summary>Good frames, recovered ones included.</summary>
        public uint Frames { get; internal set; }

        /// <summary>Good frames found inside damaged bytes.</summary>
        public uint Recovered { get; internal set; }

        /// <summary>Good frames of unknown ids.</summary>
        public uint UnknownIds { get; internal set; }

        /// <summary>Complete frames with a wrong checksum.</summary>
        public uint CrcFailures { get; internal set; }

        /// <summary>Wrong checksums, and start bytes that turned out to begin nothing.</summary>
        public uint SyncRecoveries { get; internal set; }

        /// <summary>Bytes of both.</summary>
        public uint FailedBytes { get; internal set; }

        /// <summary>Bytes outside frames that did not even look like a start.</summary>
        public uint NoiseBytes { get; internal set; }

        /// <summary>Frames whose length lies outside the sizes of their message. Newer peers may send such frames.</summary>
        public uint LenErrors { get; internal set; }

        /// <summary>Good frames whose sequence number is not the one after the frame before.</summary>
        public uint SeqGaps { get; internal set; }

        internal static uint More(uint counter, long more)
        {
            return (uint)Math.Min(uint.MaxValue, counter + more);
        }
    }

    /// <summary>Reads a whole buffer.</summary>
    public sealed class BufferReader
    {
        private readonly Machine machine;
        private readonly byte[] bytes;

        /// <summary>A reader at the beginning of <paramref name="bytes"/>.</summary>
        public BufferReader(Framing framing, MessageTable table, byte[] bytes)
        {
            machine = new Machine(framing, table, long.MaxValue);
            this.bytes = bytes;
        }

        /// <summary>What was counted.</summary>
        public Counters Counters => machine.Counters;

        /// <summary>The frame that <paramref name="bytes"/> begins with; null when no good one does.</summary>
        public static Frame Parse(Framing framing, MessageTable table, byte[] bytes)
        {
            Event first = new BufferReader(framing, table, bytes).TryNext();
            return first != null && first.Kind == EventKind.Frame && first.Start == 0 ? first.Frame : null;
        }

        /// <summary>The next event; null when only an incomplete frame, noise or nothing is left.</summary>
        public Event TryNext()
        {
            return machine.Step(new Window(bytes, bytes.Length, 0), true);
        }

        /// <summary>The next event, at the end of the buffer also what is left over; null when all is told.</summary>
        public Event Next()
        {
            return machine.Step(new Window(bytes, bytes.Length, 0), false);
        }

        /// <summary>All events, what is left over included.</summary>
        public IEnumerable<Event> Events()
        {
            for (Event found = Next(); found != null; found = Next())
            {
                yield return found;
            }
        }
    }

    /// <summary>Reads chunks of any size, down to one byte, with bounded memory.</summary>
    /// <remarks>A frame longer than the capacity is passed over as if its start bytes were noise. To find every good
    /// frame behind a damaged length, there should be room for two frames of the longest kind.</remarks>
    public sealed class AccumulatingReader
    {
        private readonly Machine machine;
        private readonly byte[] buffer;
        private int filled;
        private long start;

        /// <summary>A reader at the beginning of a stream.</summary>
        public AccumulatingReader(Framing framing, MessageTable table, int capacity = 2 * (0xffff + 16))
        {
            machine = new Machine(framing, table, capacity);
            buffer = new byte[capacity];
        }

        /// <summary>What was counted.</summary>
        public Counters Counters => machine.Counters;

        /// <summary>Bytes of the incomplete frame that is waited for.</summary>
        public long PartialLength => start + filled - machine.Position;

        /// <summary>Reads a chunk and tells what it completed.</summary>
        public List<Event> Read(byte[] chunk)
        {
            return Read(chunk, 0, chunk.Length);
        }

        /// <summary>Reads a part of a chunk and tells what it completed.</summary>
        public List<Event> Read(byte[] chunk, int offset, int count)
        {
            var events = new List<Event>();
            while (count > 0)
            {
                int taken = Math.Min(count, buffer.Length - filled);
                Buffer.BlockCopy(chunk, offset, buffer, filled, taken);
                filled += taken;
                offset += taken;
                count -= taken;
                Drain(events, true);
                Keep(machine.RetainFrom);
                if (count > 0 && filled == buffer.Length)
                {
                    // The machine asks for no more than the buffer holds; should it ever, the reader goes on all the same.
                    Reset();
                    if (buffer.Length == 0)
                    {
                        return events;
                    }
                }
            }
            return events;
        }

        /// <summary>Ends the stream: tells what is left over, also good frames inside an incomplete one. The reader can be
        /// used for another stream afterwards; positions go on counting.</summary>
        public List<Event> Finish()
        {
            var events = new List<Event>();
            Drain(events, false);
            Reset();
            return events;
        }

        /// <summary>Forgets an incomplete frame and the last sequence number.</summary>
        public void Reset()
        {
            start += filled;
            filled = 0;
            machine.Reset(start);
        }

        /// <summary>Sets all counters to zero.</summary>
        public void ResetCounters()
        {
            machine.Counters = new Counters();
        }

        private void Drain(List<Event> events, bool more)
        {
            var window = new Window(buffer, filled, start);
            for (Event found = machine.Step(window, more); found != null; found = machine.Step(window, more))
            {
                events.Add(found);
            }
        }

        private void Keep(long from)
        {
            int unneeded = (int)Math.Min(Math.Max(from - start, 0), filled);
            Buffer.BlockCopy(buffer, unneeded, buffer, 0, filled - unneeded);
            filled -= unneeded;
            start += unneeded;
        }
    }

    /// <summary>Bytes of the input that are at hand; all positions are absolute.</summary>
    internal struct Window
    {
        internal readonly byte[] Bytes;
        internal readonly long Base;
        private readonly int count;

        internal Window(byte[] bytes, int count, long start)
        {
            Bytes = bytes;
            this.count = count;
            Base = start;
        }

        internal long End => Base + count;

        internal int Place(long at)
        {
            return (int)Math.Min(Math.Max(at - Base, 0), count);
        }
    }

    /// <summary>The one state machine behind both readers.</summary>
    /// <remarks>The primary search stands at one position after the other. When a complete frame fails there, it is
    /// reported, the primary goes on behind it, and its inside is searched for good frames of known messages. A candidate in
    /// there that reaches beyond the failed frame cannot be judged yet and nothing waits for it: its place stays open, and
    /// it is judged when the primary next completes a frame or the input ends. Every decision depends on bytes up to a
    /// position that the bytes themselves determine, so every way of splitting the input gives the same events.</remarks>
    internal sealed class Machine
    {
        internal Counters Counters = new Counters();

        private readonly Framing framing;
        private readonly MessageTable table;
        private readonly long capacity;
        private long position;
        private long run;
        private long falseBytes;
        private bool hasOpen;
        private long openStart;
        private long openEnd;
        private bool hasRescan;
        private long rescanAt;
        private long rescanStartsEnd;
        private long rescanEnd;
        private bool rescanRemembers;
        private long oversizedEnd;
        private long compared = -1;
        private int lastSequence = -1;

        internal Machine(Framing framing, MessageTable table, long capacity)
        {
            this.framing = framing;
            this.table = table;
            this.capacity = capacity;
        }

        internal long Position => position;

        /// <summary>The first byte that is still needed.</summary>
        internal long RetainFrom => hasOpen ? Math.Min(openStart, position) : position;

        /// <summary>The next event; null when that takes more bytes than the window has.</summary>
        internal Event Step(Window window, bool more)
        {
            while (true)
            {
                if (hasRescan)
                {
                    Look found;
                    long at = Search(window, out found);
                    if (at >= 0)
                    {
                        return Recover(window, at, found);
                    }
                    hasRescan = false;
                }
                int start = window.Place(position);
                int length = window.Place(long.MaxValue) - start;
                Look look;
                if (length == 0)
                {
                    look = new Look { Kind = LookKind.Short, Length = 1 };
                }
                else if (capacity < framing.HeaderLength)
                {
                    look = new Look { Kind = LookKind.Noise, Length = length };
                }
                else
                {
                    look = Examine(window.Bytes, start, length);
                }
                switch (look.Kind)
                {
                    case LookKind.Noise:
                        position += look.Length;
                        continue;
                    case LookKind.FalseStart:
                        FalseStart(2);
                        continue;
                    case LookKind.Short:
                        break;
                    default:
                        if (look.Length > capacity)
                        {
                            // A frame that the reader could never hold.
                            oversizedEnd = Math.Max(oversizedEnd, position + look.Length);
                            FalseStart(1);
                            continue;
                        }
                        if (look.Info == null && position < oversizedEnd)
                        {
                            // Inside such a frame zeros in its payload must not pass for a frame of an unknown message.
                            FalseStart(1);
                            continue;
                        }
                        CompareLength(look);
                        break;
                }
                ForgetFarCandidates(look.Length);
                Event result;
                if (look.Kind == LookKind.Whole)
                {
                    result = Whole(window, look);
                    if (result != null)
                    {
                        return result;
                    }
                    continue;
                }
                result = Wait(window, more);
                if (result != null || !hasRescan)
                {
                    return result;
                }
            }
        }

        /// <summary>Forgets what has not become an event yet, and the last sequence number; goes on at <c>at</c>.</summary>
        internal void Reset(long at)
        {
            oversizedEnd = at;
            position = at;
            run = at;
            falseBytes = 0;
            hasOpen = false;
            hasRescan = false;
            compared = -1;
            lastSequence = -1;
        }

        /// <summary>Decides about a complete frame; null when something else must be looked at first.</summary>
        private Event Whole(Window window, Look look)
        {
            long end = position + look.Length;
            if (Verify(window, position, look))
            {
                if (hasOpen)
                {
                    hasOpen = false;
                    Rescan(openStart, openEnd, end, false);
                    return null;
                }
                Event noise = Skipped();
                if (noise != null)
                {
                    return noise;
                }
                long at = position;
                position = end;
                run = end;
                return Deliver(window, at, look, false);
            }
            Event skipped = Skipped();
            if (skipped != null)
            {
                return skipped;
            }
            var failed = new Event(EventKind.BadChecksum, position, end, Read(window, position, look, false));
            Counters.CrcFailures = Counters.More(Counters.CrcFailures, 1);
            Counters.SyncRecoveries = Counters.More(Counters.SyncRecoveries, 1);
            Counters.FailedBytes = Counters.More(Counters.FailedBytes, look.Length);
            Fail(position, end, true);
            return failed;
        }

        /// <summary>More bytes are needed: at the end of the input, what is left over.</summary>
        private Event Wait(Window window, bool more)
        {
            if (more)
            {
                return null;
            }
            Event skipped = Skipped();
            if (skipped != null)
            {
                return skipped;
            }
            if (position < window.End)
            {
                var rest = new Event(EventKind.Truncated, position, window.End, null);
                Counters.FailedBytes = Counters.More(Counters.FailedBytes, window.End - position);
                Fail(position, window.End, false);
                return rest;
            }
            if (hasOpen)
            {
                hasOpen = false;
                Rescan(openStart, openEnd, window.End, false);
            }
            return null;
        }

        /// <summary>Goes on behind failed bytes, after a search inside them.</summary>
        private void Fail(long start, long end, bool remember)
        {
            long from = hasOpen ? openStart : start + 1;
            hasOpen = false;
            // Without a checksum nothing found inside failed bytes could be trusted.
            if (framing.HasLength)
            {
                Rescan(from, end, end, remember);
            }
            position = end;
            run = end;
        }

        private void Rescan(long from, long to, long end, bool remember)
        {
            hasRescan = true;
            rescanAt = from;
            rescanStartsEnd = to;
            rescanEnd = end;
            rescanRemembers = remember;
        }

        private void FalseStart(int length)
        {
            Counters.SyncRecoveries = Counters.More(Counters.SyncRecoveries, 1);
            Counters.FailedBytes = Counters.More(Counters.FailedBytes, length);
            falseBytes += length;
            position += length;
        }

        /// <summary>The bytes since the last event, if any.</summary>
        private Event Skipped()
        {
            if (run >= position)
            {
                return null;
            }
            var skipped = new Event(EventKind.Skipped, run, position, null);
            Counters.NoiseBytes = Counters.More(Counters.NoiseBytes, Math.Max(0, position - run - falseBytes));
            run = position;
            falseBytes = 0;
            return skipped;
        }

        private Event Recover(Window window, long at, Look look)
        {
            long end = at + look.Length;
            position = Math.Max(position, end);
            if (end > run)
            {
                run = end;
                falseBytes = 0;
            }
            Counters.Recovered = Counters.More(Counters.Recovered, 1);
            return Deliver(window, at, look, true);
        }

        private Event Deliver(Window window, long at, Look look, bool recovered)
        {
            Counters.Frames = Counters.More(Counters.Frames, 1);
            Counters.UnknownIds = Counters.More(Counters.UnknownIds, look.Info == null ? 1 : 0);
            if (framing.HasSequence)
            {
                byte sequence = look.Header.Sequence;
                bool gap = lastSequence >= 0 && sequence != ((lastSequence + 1) & 0xff);
                Counters.SeqGaps = Counters.More(Counters.SeqGaps, gap ? 1 : 0);
                lastSequence = sequence;
            }
            return new Event(EventKind.Frame, at, at + look.Length, Read(window, at, look, recovered));
        }

        private Frame Read(Window window, long at, Look look, bool recovered)
        {
            var payload = new byte[look.Length - framing.Overhead];
            Buffer.BlockCopy(window.Bytes, window.Place(at) + framing.HeaderLength, payload, 0, payload.Length);
            return new Frame(look.Id, look.Header, payload, look.Info, framing, recovered);
        }

        /// <summary>Once per frame.</summary>
        private void CompareLength(Look look)
        {
            if (!framing.HasLength || compared == position)
            {
                return;
            }
            compared = position;
            int length = look.Length - framing.Overhead;
            bool odd = look.Info != null && (length < look.Info.MinSize || length > look.Info.MaxSize);
            Counters.LenErrors = Counters.More(Counters.LenErrors, odd ? 1 : 0);
        }

        /// <summary>Keeps no more than the reader can hold together with the frame at the primary position.</summary>
        private void ForgetFarCandidates(int total)
        {
            if (hasOpen && capacity != long.MaxValue)
            {
                openStart = Math.Max(openStart, position + Math.Max(total, framing.HeaderLength) - capacity);
                hasOpen = openStart < openEnd;
            }
        }

        private bool Verify(Window window, long at, Look look)
        {
            if (!framing.HasLength)
            {
                return true;
            }
            int start = window.Place(at);
            int sum = framing.Checksum(window.Bytes, start, look.Length - framing.Overhead, look.Info);
            int trailer = start + look.Length - 2;
            return sum == (window.Bytes[trailer] | (window.Bytes[trailer + 1] << 8));
        }

        /// <summary>The next good frame inside failed bytes; -1 when there is none. Only messages that are known count: with
        /// an unknown id, six bytes such as <c>90 71 00 00 00 00</c> would pass.</summary>
        private long Search(Window window, out Look found)
        {
            while (rescanAt < rescanStartsEnd)
            {
                long at = rescanAt;
                long advance = 1;
                bool unresolved = false;
                int start = window.Place(at);
                Look look = Examine(window.Bytes, start, window.Place(rescanEnd) - start);
                switch (look.Kind)
                {
                    case LookKind.Noise:
                        advance = look.Length;
                        break;
                    case LookKind.Short:
                        unresolved = look.Length <= capacity;
                        break;
                    case LookKind.Claims:
                        unresolved = look.Info != null && look.Length <= capacity;
                        break;
                    case LookKind.Whole:
                        if (look.Info != null && look.Length <= capacity && Verify(window, at, look))
                        {
                            rescanAt = at + look.Length;
                            // What began before it and reaches beyond would overlap it.
                            hasOpen = false;
                            found = look;
                            return at;
                        }
                        break;
                }
                if (unresolved && rescanRemembers && !hasOpen)
                {
                    hasOpen = true;
                    openStart = at;
                    openEnd = rescanStartsEnd;
                }
                rescanAt = at + Math.Max(advance, 1);
            }
            found = default(Look);
            return -1;
        }

        private enum LookKind
        {
            /// <summary>No frame begins within this many bytes.</summary>
            Noise,
            /// <summary>Two bytes: the first start byte, and not the second.</summary>
            FalseStart,
            /// <summary>Perhaps a frame; this many bytes will tell more.</summary>
            Short,
            /// <summary>A header whose frame is not all there.</summary>
            Claims,
            /// <summary>A header whose frame is all there.</summary>
            Whole,
        }

        /// <summary>What stands at a position.</summary>
        private struct Look
        {
            internal LookKind Kind;
            internal int Length;
            internal ushort Id;
            internal Header Header;
            internal MessageInfo Info;
        }

        private Look Examine(byte[] bytes, int start, int length)
        {
            if (framing.Header != HeaderKind.None && length > 0)
            {
                int at = Array.IndexOf(bytes, framing.FirstStart, start, length);
                if (at != start)
                {
                    return new Look { Kind = LookKind.Noise, Length = at < 0 ? length : at - start };
                }
            }
            if (framing.Header == HeaderKind.Basic)
            {
                if (length < 2)
                {
                    return new Look { Kind = LookKind.Short, Length = 2 };
                }
                byte second = bytes[start + 1];
                if (second == framing.FirstStart)
                {
                    return new Look { Kind = LookKind.Noise, Length = 1 };
                }
                if (second != framing.SecondStart)
                {
                    return new Look { Kind = LookKind.FalseStart, Length = 2 };
                }
            }
            if (length < framing.HeaderLength)
            {
                return new Look { Kind = LookKind.Short, Length = framing.HeaderLength };
            }
            int next = start + framing.StartLength;
            byte sequence = framing.HasSequence ? bytes[next++] : (byte)0;
            byte system = framing.HasSystem ? bytes[next++] : (byte)0;
            byte component = framing.HasSystem ? bytes[next++] : (byte)0;
            int payload = framing.LengthBytes > 0 ? bytes[next++] : 0;
            if (framing.LengthBytes > 1)
            {
                payload |= bytes[next++] << 8;
            }
            int package = framing.HasPackage ? bytes[next++] : 0;
            var look = new Look
            {
                Id = (ushort)((package << 8) | bytes[next]),
                Header = new Header(sequence, system, component),
            };
            look.Info = table.Find(look.Id);
            if (!framing.HasLength)
            {
                if (look.Info == null)
                {
                    return new Look { Kind = LookKind.Noise, Length = 1 };
                }
                payload = look.Info.MaxSize;
            }
            look.Length = framing.Overhead + payload;
            look.Kind = length < look.Length ? LookKind.Claims : LookKind.Whole;
            return look;
        }
    }
}
