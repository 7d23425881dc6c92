// struct-frame: a small client over a transport of yours. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;
using System.Diagnostics;

namespace StructFrameRuntime
{
    /// <summary>What a client talks through: a socket, a serial port, a pipe.</summary>
    public interface ITransport
    {
        /// <summary>Sends all of these bytes.</summary>
        void Send(byte[] bytes);

        /// <summary>Waits up to <paramref name="milliseconds"/> for bytes and stores them at the beginning of
        /// <paramref name="buffer"/>.</summary>
        /// <returns>How many there are; 0 when none came in time, and -1 when the other side is gone.</returns>
        int Receive(byte[] buffer, int milliseconds);
    }

    /// <summary>Sends messages, hands received ones to subscribers, and waits for answers. For one thread.</summary>
    public sealed class Client
    {
        private readonly ITransport transport;
        private readonly Framing framing;
        private readonly MessageTable table;
        private readonly AccumulatingReader reader;
        private readonly byte[] buffer = new byte[4096];
        private readonly Dictionary<ushort, List<Action<Frame>>> handlers =
            new Dictionary<ushort, List<Action<Frame>>>();

        private byte sequence;

        /// <summary>A client for messages of this table.</summary>
        public Client(ITransport transport, Framing framing, MessageTable table)
        {
            this.transport = transport;
            this.framing = framing;
            this.table = table;
            reader = new AccumulatingReader(framing, table);
        }

        /// <summary>A handler failed, or a payload could not be read; dispatch goes on.</summary>
        public event Action<Exception> OnError;

        /// <summary>A frame that nobody subscribed to.</summary>
        public event Action<Frame> OnUnhandled;

        /// <summary>SYS of frames sent.</summary>
        public byte System { get; set; }

        /// <summary>COMP of frames sent.</summary>
        public byte Component { get; set; }

        /// <summary>False once the other side is gone.</summary>
        public bool IsOpen { get; private set; } = true;

        /// <summary>What the reader has counted.</summary>
        public Counters Counters => reader.Counters;

        /// <summary>Sends a message; sequence numbers count up by themselves.</summary>
        /// <exception cref="StructFrameException">The framing cannot carry it, or a value does not fit.</exception>
        public void Send(IMessage message)
        {
            byte[] frame = framing.Write(message, new Header(sequence, System, Component));
            sequence = unchecked((byte)(sequence + 1));
            transport.Send(frame);
        }

        /// <summary>Calls <paramref name="handler"/> for every frame with this id, until the result is disposed.</summary>
        public IDisposable Subscribe(ushort id, Action<Frame> handler)
        {
            List<Action<Frame>> list;
            if (!handlers.TryGetValue(id, out list))
            {
                list = new List<Action<Frame>>();
                handlers.Add(id, list);
            }
            list.Add(handler);
            return new Subscription(() => list.Remove(handler));
        }

        /// <summary>Calls <paramref name="handler"/> for every message of this class, until the result is disposed.</summary>
        public IDisposable Subscribe<T>(Action<T> handler)
            where T : class, IMessage
        {
            return Subscribe(Id(typeof(T)), frame => handler((T)frame.Decode()));
        }

        /// <summary>Waits once for bytes and hands on what they complete.</summary>
        /// <returns>How many frames that were.</returns>
        public int Poll(int milliseconds)
        {
            if (!IsOpen)
            {
                return 0;
            }
            int count = transport.Receive(buffer, milliseconds);
            List<Event> events;
            if (count < 0)
            {
                IsOpen = false;
                events = reader.Finish();
            }
            else
            {
                events = reader.Read(buffer, 0, count);
            }
            int frames = 0;
            foreach (Event found in events)
            {
                if (found.Kind == EventKind.Frame)
                {
                    frames++;
                    Dispatch(found.Frame);
                }
            }
            return frames;
        }

        /// <summary>Sends a message and waits for the first answer that <paramref name="accept"/> takes; other messages go
        /// to their subscribers meanwhile.</summary>
        /// <exception cref="TimeoutException">No such answer came in time.</exception>
        /// <exception cref="StructFrameException">The link closed first (<c>closed</c>).</exception>
        public TAnswer Request<TAnswer>(IMessage request, Func<TAnswer, bool> accept = null, int milliseconds = 5000)
            where TAnswer : class, IMessage
        {
            TAnswer answer = null;
            Action<TAnswer> take = message =>
            {
                if (answer == null && (accept == null || accept(message)))
                {
                    answer = message;
                }
            };
            using (Subscribe(take))
            {
                Send(request);
                var watch = Stopwatch.StartNew();
                while (answer == null)
                {
                    if (!IsOpen)
                    {
                        throw new StructFrameException("closed", "the link closed before an answer came");
                    }
                    int left = milliseconds - (int)watch.ElapsedMilliseconds;
                    if (left <= 0)
                    {
                        throw new TimeoutException("no " + typeof(TAnswer).Name + " within " + milliseconds + " ms");
                    }
                    Poll(left);
                }
            }
            return answer;
        }

        private ushort Id(Type type)
        {
            MessageInfo info = table.Find(type);
            if (info == null)
            {
                throw new StructFrameException("unknown_message", type.Name + " is not in the client's table");
            }
            return info.Id;
        }

        private void Dispatch(Frame frame)
        {
            List<Action<Frame>> list;
            if (!handlers.TryGetValue(frame.Id, out list) || list.Count == 0)
            {
                OnUnhandled?.Invoke(frame);
                return;
            }
            foreach (Action<Frame> handler in list.ToArray())
            {
                try
                {
                    handler(frame);
                }
                catch (Exception error)
                {
                    OnError?.Invoke(error);
                }
            }
        }

        private sealed class Subscription : IDisposable
        {
            private Action end;

            internal Subscription(Action end)
            {
                this.end = end;
            }

            public void Dispose()
            {
                end?.Invoke();
                end = null;
            }
        }
    }
}
