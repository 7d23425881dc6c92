// The operator: looks on, sends two commands, waits for the answer to each.

using System;
using System.Globalization;
using System.Linq;
using StructFrame.Robot;
using StructFrameRuntime;

namespace Example
{
    public sealed class OperatorSide
    {
        private readonly Client client;
        private int seen;

        public OperatorSide(Client client)
        {
            this.client = client;
            client.Subscribe<Telemetry>(Show);
        }

        // Runs for half a second or so.
        public void Run()
        {
            LookOn(3);
            var target = new Vector3 { X = 3, Y = 4 };
            Console.WriteLine("go to (3, 4, 0): " + Order(1, new GoTo { Target = target }));
            LookOn(2);
            Console.WriteLine("halt: " + Order(2, new Halt { Reason = "tea time" }));
        }

        private void LookOn(int frames)
        {
            for (int until = seen + frames; seen < until && client.IsOpen;)
            {
                client.Poll(100);
            }
        }

        private void Show(Telemetry telemetry)
        {
            seen++;
            Console.WriteLine(string.Format(
                CultureInfo.InvariantCulture,
                "telemetry at {0:0.0} s: {1}, {2:0.0} V, nearest {3} mm",
                telemetry.TimeUs / 1e6,
                telemetry.Mode,
                telemetry.BatteryVolts,
                telemetry.RangesMm.Min()));
        }

        // A GoTo or a Halt says by its class which member of the union it is.
        private string Order(uint sequence, CommandOrder order)
        {
            var command = new Command { Sequence = sequence, Order = order };
            Acknowledge answer = client.Request<Acknowledge>(command, found => found.Sequence == sequence, 2000);
            return (answer.Accepted ? "accepted" : "refused") + ", \"" + answer.Note + "\"";
        }
    }
}
