// One end of a link: `peer.exe robot|operator tcp|udp|serial|ws [PORT or PATH]`. What it says is checked by `links.rs`.

using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using StructFrame.Robot;
using StructFrameRuntime;

public static class Peer
{
    private static readonly byte[] Log = Enumerable.Range(0, 250).Select(number => (byte)number).ToArray();

    public static void Main(string[] words)
    {
        string place = words.Length > 2 ? words[2] : null;
        if (words[0] == "robot")
        {
            Serve(words[1], place);
        }
        else
        {
            Operate(words[1], place);
        }
    }

    private static ITransport OpenSerial(string path)
    {
        // SerialPort would set DTR, which a pseudo-terminal does not have. One stream cannot read and write at once.
        var input = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite, 1);
        var output = new FileStream(path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite, 1);
        return new StreamTransport(input, output);
    }

    private static ITransport Accept()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Console.WriteLine("ready " + ((IPEndPoint)listener.LocalEndpoint).Port);
        return new TcpTransport(listener.AcceptTcpClient());
    }

    private static ITransport Answer()
    {
        var transport = new UdpTransport(new IPEndPoint(IPAddress.Loopback, 0));
        Console.WriteLine("ready " + transport.Port);
        return transport;
    }

    private static ITransport Wait(string path)
    {
        ITransport transport = OpenSerial(path);
        Console.WriteLine("ready");
        return transport;
    }

    private static void Serve(string kind, string place)
    {
        ITransport transport = kind == "tcp" ? Accept() : kind == "udp" ? Answer() : Wait(place);
        bool ended = false;
        using ((IDisposable)transport)
        {
            var client = new Client(transport, Framing.Network, Messages.All) { System = 1 };
            client.OnError += error => throw error;
            client.Subscribe<Command>(command =>
            {
                var answer = new Acknowledge { Sequence = command.Sequence, Log = Log };
                if (command.Order.TryGetGoTo(out GoTo go))
                {
                    answer.Accepted = go.Target.X == 1.5f && go.Speed == 0.75f;
                    answer.Note = "csharp: go";
                }
                else if (command.Order.TryGetHalt(out Halt halt))
                {
                    ended = halt.Reason == "hang up";
                    answer.Accepted = true;
                    answer.Note = "csharp: " + halt.Reason;
                }
                if (!ended)
                {
                    client.Send(answer);
                }
            });
            var telemetry = new Telemetry { RangesMm = Enumerable.Repeat((ushort)7, 32).ToList() };
            var watch = Stopwatch.StartNew();
            while (!ended && client.IsOpen)
            {
                client.Poll(5);
                if (!ended && watch.ElapsedMilliseconds >= 20)
                {
                    watch.Restart();
                    try
                    {
                        client.Send(telemetry);
                    }
                    catch (IOException) when (kind == "udp")
                    {
                        // Nobody is there before the first command.
                    }
                }
            }
        }
        // A read of a serial port that is under way does not keep the program.
        Environment.Exit(ended ? 0 : 1);
    }

    private static ITransport Connect(string kind, string place)
    {
        switch (kind)
        {
            case "tcp":
                return new TcpTransport("127.0.0.1", int.Parse(place));
            case "udp":
                return new UdpTransport("127.0.0.1", int.Parse(place));
            case "ws":
                return new WebSocketTransport(new Uri("ws://127.0.0.1:" + place + "/"));
            default:
                return OpenSerial(place);
        }
    }

    private static void Operate(string kind, string place)
    {
        var words = new StringBuilder();
        ITransport transport = Connect(kind, place);
        using ((IDisposable)transport)
        {
            var client = new Client(transport, Framing.Network, Messages.All) { System = 2 };
            int seen = 0;
            client.Subscribe<Telemetry>(telemetry => seen += telemetry.RangesMm.Count / 32);
            var target = new Vector3 { X = 1.5f };
            CommandOrder[] orders = { new GoTo { Target = target, Speed = 0.75f }, new Halt { Reason = "grüße" } };
            for (uint sequence = 1; sequence <= 2; sequence++)
            {
                var command = new Command { Sequence = sequence, Order = orders[sequence - 1] };
                Acknowledge answer = client.Request<Acknowledge>(command, found => found.Sequence == command.Sequence);
                if (!answer.Accepted || !answer.Log.SequenceEqual(Log))
                {
                    throw new Exception("not the answer: " + answer.Note);
                }
                words.Append(answer.Note).Append(", ");
            }
            var watch = Stopwatch.StartNew();
            while (seen < 3 && watch.ElapsedMilliseconds < 5000)
            {
                client.Poll(100);
            }
            if (seen < 3 || client.Counters.CrcFailures != 0)
            {
                throw new Exception("telemetry is missing or damaged");
            }
            var last = new Command { Sequence = 3, Order = new Halt { Reason = "hang up" } };
            if (kind == "tcp" || kind == "ws")
            {
                try
                {
                    client.Request<Acknowledge>(last, null, 4000);
                }
                catch (StructFrameException error) when (error.Code == "closed")
                {
                    words.Append("closed, ");
                }
            }
            else
            {
                client.Send(last);
            }
        }
        Console.OutputEncoding = new UTF8Encoding(false);
        Console.WriteLine(words.ToString().TrimEnd(',', ' '));
        Environment.Exit(0);
    }
}
