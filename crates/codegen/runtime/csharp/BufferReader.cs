// struct-frame: reads a whole buffer. A fixed part of the code that `fw gen` writes for C#.

using System.Collections.Generic;

namespace StructFrameRuntime
{
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
}
