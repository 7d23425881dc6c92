// A robot and its operator, talking over TCP on this machine.

using System.Net;
using System.Net.Sockets;
using System.Threading;
using StructFrame.Robot;
using StructFrameRuntime;

namespace Example
{
    public static class Program
    {
        public static void Main()
        {
            var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            int port = ((IPEndPoint)listener.LocalEndpoint).Port;
            var robot = new Thread(() => new RobotSide(Link(new TcpTransport(listener.AcceptTcpClient()))).Run());
            robot.Start();
            using (var transport = new TcpTransport("127.0.0.1", port))
            {
                new OperatorSide(Link(transport)).Run();
            }
            robot.Join();
            listener.Stop();
        }

        // How both sides frame their messages, and which messages they know.
        private static Client Link(ITransport transport)
        {
            return new Client(transport, Framing.Standard, Messages.All);
        }
    }
}
