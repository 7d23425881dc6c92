// Bytes over TCP.

using System.IO;
using System.Net.Sockets;
using StructFrameRuntime;

namespace Example
{
    public sealed class TcpTransport : ITransport
    {
        private readonly TcpClient connection;
        private readonly NetworkStream stream;

        public TcpTransport(TcpClient connection)
        {
            connection.NoDelay = true;
            this.connection = connection;
            stream = connection.GetStream();
        }

        public void Send(byte[] bytes)
        {
            stream.Write(bytes, 0, bytes.Length);
        }

        public int Receive(byte[] buffer, int milliseconds)
        {
            try
            {
                if (!connection.Client.Poll(milliseconds * 1000, SelectMode.SelectRead))
                {
                    return 0;
                }
                int count = stream.Read(buffer, 0, buffer.Length);
                return count == 0 ? -1 : count;
            }
            catch (IOException)
            {
                return -1;
            }
        }
    }
}
