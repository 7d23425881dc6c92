// struct-frame: a client's transport over UDP. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.IO;
using System.Net;
using System.Net.Sockets;

namespace StructFrameRuntime
{
    /// <summary>A UDP socket: a frame per datagram.</summary>
    public sealed class UdpTransport : ITransport, IDisposable
    {
        private readonly Socket socket;
        private readonly byte[] datagram = new byte[65536];
        private readonly bool connected;
        private EndPoint last;
        private int taken;
        private int filled;

        /// <summary>Talks to one peer: only its datagrams are read. Local port 0 takes a free one.</summary>
        /// <exception cref="SocketException">The host is unknown, or the local port is taken.</exception>
        public UdpTransport(string host, int port, int localPort = 0)
        {
            IPAddress address = Dns.GetHostAddresses(host)[0];
            socket = new Socket(address.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
            bool six = address.AddressFamily == AddressFamily.InterNetworkV6;
            socket.Bind(new IPEndPoint(six ? IPAddress.IPv6Any : IPAddress.Any, localPort));
            socket.Connect(new IPEndPoint(address, port));
            connected = true;
        }

        /// <summary>Answers: frames go to the sender of the last datagram.</summary>
        /// <exception cref="SocketException">The port is taken.</exception>
        public UdpTransport(IPEndPoint local)
        {
            socket = new Socket(local.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
            socket.Bind(local);
        }

        /// <summary>The local port.</summary>
        public int Port => ((IPEndPoint)socket.LocalEndPoint).Port;

        /// <summary>Sends a datagram.</summary>
        /// <exception cref="IOException">There is no peer yet, or the bytes do not fit a datagram.</exception>
        public void Send(byte[] bytes)
        {
            if (!connected && last == null)
            {
                throw new IOException("cannot send: no peer yet, receive a datagram first");
            }
            try
            {
                Put(bytes);
            }
            catch (SocketException error)
            {
                if (!IsNews(error))
                {
                    throw new IOException("cannot send: " + error.Message, error);
                }
                Again(bytes);
            }
            catch (ObjectDisposedException error)
            {
                throw new IOException("cannot send: the socket is closed", error);
            }
        }

        /// <summary>Waits up to <paramref name="milliseconds"/> for a datagram, of which as much is stored as fits; the next
        /// call gives the rest.</summary>
        /// <returns>How many bytes there are; 0 when none came in time, and -1 when this socket was closed.</returns>
        public int Receive(byte[] buffer, int milliseconds)
        {
            try
            {
                if (taken == filled)
                {
                    if (!socket.Poll(Waiting.Microseconds(milliseconds), SelectMode.SelectRead))
                    {
                        return 0;
                    }
                    taken = filled = 0;
                    if (connected)
                    {
                        filled = socket.Receive(datagram);
                    }
                    else
                    {
                        EndPoint from = new IPEndPoint(
                            socket.AddressFamily == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Any : IPAddress.Any, 0);
                        filled = socket.ReceiveFrom(datagram, ref from);
                        last = from;
                    }
                }
            }
            catch (SocketException error)
            {
                return IsNews(error) ? 0 : -1;
            }
            catch (ObjectDisposedException)
            {
                return -1;
            }
            int count = Math.Min(buffer.Length, filled - taken);
            Buffer.BlockCopy(datagram, taken, buffer, 0, count);
            taken += count;
            return count;
        }

        /// <summary>Closes the socket.</summary>
        public void Dispose()
        {
            socket.Close();
        }

        // The news that an earlier datagram was not delivered says nothing about this one.
        private static bool IsNews(SocketException error)
        {
            return error.SocketErrorCode == SocketError.ConnectionRefused
                || error.SocketErrorCode == SocketError.ConnectionReset;
        }

        private void Put(byte[] bytes)
        {
            if (connected)
            {
                socket.Send(bytes);
            }
            else
            {
                socket.SendTo(bytes, last);
            }
        }

        private void Again(byte[] bytes)
        {
            try
            {
                Put(bytes);
            }
            catch (SocketException error) when (IsNews(error))
            {
                // As lost as any other datagram that nobody receives.
            }
        }
    }
}
