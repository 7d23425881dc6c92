// struct-frame: reads chunks of any size. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;

namespace StructFrameRuntime
{
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
}
