// struct-frame: a client's transport over TCP. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.IO;
using System.Net.Sockets;

namespace StructFrameRuntime
{
    /// <summary>A TCP connection.</summary>
    public sealed class TcpTransport : ITransport, IDisposable
    {
        private readonly Socket socket;

        /// <summary>Connects to a server.</summary>
        /// <exception cref="SocketException">It cannot be reached.</exception>
        public TcpTransport(string host, int port)
            : this(new TcpClient(host, port))
        {
        }

        /// <summary>Takes over a connection.</summary>
        public TcpTransport(TcpClient connection)
        {
            socket = connection.Client;
            socket.NoDelay = true;
            socket.SendTimeout = 5000;
        }

        /// <summary>Sends all of these bytes.</summary>
        /// <exception cref="IOException">The connection is gone, or did not take the bytes within five seconds.</exception>
        public void Send(byte[] bytes)
        {
            try
            {
                for (int sent = 0; sent < bytes.Length;)
                {
                    sent += socket.Send(bytes, sent, bytes.Length - sent, SocketFlags.None);
                }
            }
            catch (SocketException error)
            {
                throw new IOException("cannot send: " + error.Message, error);
            }
            catch (ObjectDisposedException error)
            {
                throw new IOException("cannot send: the connection is closed", error);
            }
        }

        /// <summary>Waits up to <paramref name="milliseconds"/> for bytes.</summary>
        /// <returns>How many there are; 0 when none came in time, and -1 when the other side is gone.</returns>
        public int Receive(byte[] buffer, int milliseconds)
        {
            try
            {
                if (!socket.Poll(Waiting.Microseconds(milliseconds), SelectMode.SelectRead))
                {
                    return 0;
                }
                int count = socket.Receive(buffer);
                return count == 0 ? -1 : count;
            }
            catch (SocketException)
            {
                return -1;
            }
            catch (ObjectDisposedException)
            {
                return -1;
            }
        }

        /// <summary>Closes the connection.</summary>
        public void Dispose()
        {
            socket.Close();
        }
    }

    /// <summary>Times of sockets.</summary>
    internal static class Waiting
    {
        /// <summary>As many as fit: a caller that waits longer calls again.</summary>
        internal static int Microseconds(int milliseconds)
        {
            return Math.Min(Math.Max(milliseconds, 0), int.MaxValue / 1000) * 1000;
        }
    }
}
