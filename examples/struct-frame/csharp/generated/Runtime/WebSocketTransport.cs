// struct-frame: a client's transport over a WebSocket. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.IO;
using System.Net.WebSockets;
using System.Threading;
using System.Threading.Tasks;

namespace StructFrameRuntime
{
    /// <summary>A WebSocket: a binary message per frame.</summary>
    public sealed class WebSocketTransport : ITransport, IDisposable
    {
        private readonly WebSocket socket;
        private readonly byte[] chunk = new byte[4096];
        private Task<WebSocketReceiveResult> reading;
        private int taken;
        private int filled;

        /// <summary>Connects to a server.</summary>
        /// <exception cref="IOException">It cannot be reached within the time.</exception>
        public WebSocketTransport(Uri address, int milliseconds = 5000)
        {
            var client = new ClientWebSocket();
            socket = client;
            Finish(client.ConnectAsync(address, CancellationToken.None), "connect", milliseconds);
        }

        /// <summary>Takes over an open connection, of a server for example.</summary>
        public WebSocketTransport(WebSocket socket)
        {
            this.socket = socket;
        }

        /// <summary>Sends these bytes as one message.</summary>
        /// <exception cref="IOException">The connection is gone, or did not take the bytes within five seconds.</exception>
        public void Send(byte[] bytes)
        {
            Task sending;
            try
            {
                sending = socket.SendAsync(
                    new ArraySegment<byte>(bytes), WebSocketMessageType.Binary, true, CancellationToken.None);
            }
            catch (Exception error) when (error is InvalidOperationException || error is WebSocketException)
            {
                throw new IOException("cannot send: " + error.Message, error);
            }
            Finish(sending, "send", 5000);
        }

        /// <summary>Waits up to <paramref name="milliseconds"/> for bytes of a message.</summary>
        /// <returns>How many there are; 0 when none came in time, and -1 when the other side is gone.</returns>
        public int Receive(byte[] buffer, int milliseconds)
        {
            if (taken == filled)
            {
                try
                {
                    if (reading == null)
                    {
                        reading = socket.ReceiveAsync(new ArraySegment<byte>(chunk), CancellationToken.None);
                    }
                    if (!reading.Wait(Math.Max(milliseconds, 0)))
                    {
                        return 0;
                    }
                }
                catch (Exception error) when (
                    error is AggregateException || error is InvalidOperationException || error is WebSocketException)
                {
                    return -1;
                }
                WebSocketReceiveResult result = reading.Result;
                if (result.MessageType == WebSocketMessageType.Close)
                {
                    return -1;
                }
                reading = null;
                taken = 0;
                // Text is not frames.
                filled = result.MessageType == WebSocketMessageType.Binary ? result.Count : 0;
            }
            int count = Math.Min(buffer.Length, filled - taken);
            Buffer.BlockCopy(chunk, taken, buffer, 0, count);
            taken += count;
            return count;
        }

        /// <summary>Closes the connection.</summary>
        public void Dispose()
        {
            try
            {
                if (socket.State == WebSocketState.Open || socket.State == WebSocketState.CloseReceived)
                {
                    socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, string.Empty, CancellationToken.None)
                        .Wait(1000);
                }
            }
            catch (Exception error) when (
                error is AggregateException || error is InvalidOperationException || error is WebSocketException)
            {
                // The other side was faster.
            }
            socket.Dispose();
        }

        private static void Finish(Task task, string what, int milliseconds)
        {
            try
            {
                if (!task.Wait(milliseconds))
                {
                    throw new IOException("cannot " + what + ": not within " + milliseconds + " ms");
                }
            }
            catch (AggregateException error)
            {
                Exception cause = error.GetBaseException();
                throw new IOException("cannot " + what + ": " + cause.Message, cause);
            }
        }
    }
}
