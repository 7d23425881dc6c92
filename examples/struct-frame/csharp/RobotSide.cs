// The robot: telemetry out, commands in, an answer to each.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using StructFrame.Robot;
using StructFrameRuntime;

namespace Example
{
    public sealed class RobotSide
    {
        private readonly Client client;
        private readonly Telemetry telemetry = new Telemetry { WheelSpeed = new[] { 0.5f, 0.5f, 0.5f, 0.5f } };

        public RobotSide(Client client)
        {
            this.client = client;
            client.Subscribe<Command>(command => client.Send(Obey(command)));
        }

        // Runs until the operator hangs up.
        public void Run()
        {
            var watch = Stopwatch.StartNew();
            for (int tick = 0; client.IsOpen; tick++)
            {
                telemetry.TimeUs = (ulong)watch.ElapsedMilliseconds * 1000;
                telemetry.RangesMm = new List<ushort> { (ushort)(400 + (10 * tick)), 900 };
                try
                {
                    client.Send(telemetry);
                }
                catch (IOException)
                {
                    return;
                }
                telemetry.BatteryVolts -= 0.1f;
                while (client.IsOpen && watch.ElapsedMilliseconds < 100 * (tick + 1))
                {
                    client.Poll(20);
                }
            }
        }

        private Acknowledge Obey(Command command)
        {
            var answer = new Acknowledge { Sequence = command.Sequence, Accepted = true };
            if (command.Order.TryGetGoTo(out GoTo go))
            {
                telemetry.Mode = Mode.Automatic;
                double metres = Distance(telemetry.Position, go.Target);
                answer.Note = string.Format(
                    CultureInfo.InvariantCulture, "{0:0.0} m, {1:0} s", metres, metres / go.Speed);
            }
            else if (command.Order.TryGetHalt(out Halt halt))
            {
                telemetry.Mode = Mode.Idle;
                answer.Note = "stopped: " + halt.Reason;
            }
            else
            {
                answer.Accepted = false;
                answer.Note = "order " + command.Order.Tag + " is not known here";
            }
            return answer;
        }

        private static double Distance(Vector3 from, Vector3 to)
        {
            double x = to.X - from.X;
            double y = to.Y - from.Y;
            double z = to.Z - from.Z;
            return Math.Sqrt((x * x) + (y * y) + (z * z));
        }
    }
}
