// struct-frame: finds frames and loses no good one. A fixed part of the code that `fw gen` writes for C#.

using System;

namespace StructFrameRuntime
{
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
                    look = Look.At(framing, table, window.Bytes, start, length);
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
            if (look.Verify(framing, window.Bytes, window.Place(position)))
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
                Look look = Look.At(framing, table, window.Bytes, start, window.Place(rescanEnd) - start);
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
                        if (look.Info != null && look.Length <= capacity && look.Verify(framing, window.Bytes, start))
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
    }
}
