// struct-frame: a client's transport over a stream. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.IO;
using System.Threading.Tasks;

namespace StructFrameRuntime
{
    /// <summary>Any stream: that of a serial port (<c>SerialPort.BaseStream</c>), a pipe, TLS.</summary>
    /// <remarks>One read is under way all the time, so that a stream without timeouts can be waited for.</remarks>
    public sealed class StreamTransport : ITransport, IDisposable
    {
        private readonly Stream input;
        private readonly Stream output;
        private readonly byte[] chunk = new byte[4096];
        private Task<int> reading;
        private int taken;
        private int filled;

        /// <summary>Over a stream in both directions.</summary>
        public StreamTransport(Stream both)
            : this(both, both)
        {
        }

        /// <summary>Over a stream for each direction.</summary>
        public StreamTransport(Stream input, Stream output)
        {
            this.input = input;
            this.output = output;
        }

        /// <summary>Sends all of these bytes.</summary>
        /// <exception cref="IOException">The stream is closed or gone.</exception>
        public void Send(byte[] bytes)
        {
            output.Write(bytes, 0, bytes.Length);
            output.Flush();
        }

        /// <summary>Waits up to <paramref name="milliseconds"/> for bytes.</summary>
        /// <returns>How many there are; 0 when none came in time, and -1 when the stream ended.</returns>
        public int Receive(byte[] buffer, int milliseconds)
        {
            if (taken == filled)
            {
                if (reading == null)
                {
                    reading = Task.Run(() => Read());
                }
                if (!reading.Wait(Math.Max(milliseconds, 0)))
                {
                    return 0;
                }
                taken = 0;
                filled = Math.Max(reading.Result, 0);
                if (reading.Result < 0)
                {
                    return -1;
                }
                reading = null;
            }
            int count = Math.Min(buffer.Length, filled - taken);
            Buffer.BlockCopy(chunk, taken, buffer, 0, count);
            taken += count;
            return count;
        }

        /// <summary>Closes the streams.</summary>
        public void Dispose()
        {
            input.Dispose();
            output.Dispose();
        }

        // What was read; -1 at the end.
        private int Read()
        {
            while (true)
            {
                try
                {
                    int count = input.Read(chunk, 0, chunk.Length);
                    return count == 0 ? -1 : count;
                }
                catch (TimeoutException)
                {
                    // The stream has a patience of its own.
                }
                catch (IOException)
                {
                    return -1;
                }
                catch (ObjectDisposedException)
                {
                    return -1;
                }
                catch (InvalidOperationException)
                {
                    // A serial port that was closed.
                    return -1;
                }
            }
        }
    }
}
