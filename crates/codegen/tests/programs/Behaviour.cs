// What generated C# does with the schema made to hurt. Throws when something is not as it should be.

using System;
using System.Collections.Generic;
using System.Linq;
using StructFrame.Torture;
using Other = StructFrame.Other;
using Rt = StructFrameRuntime;
using Thing = StructFrame.Torture.Object;

public static class Behaviour
{
    public static void Main()
    {
        Defaults();
        ShortPayloads();
        CountsAndLengths();
        Unions();
        SeveralPackages();
        Readers();
        Requests();
        Console.WriteLine("all as it should be");
    }

    private static void Is(object expected, object found)
    {
        if (!Rt.Values.Same(expected, found))
        {
            throw new Exception("expected " + Rt.Values.Show(expected) + ", found " + Rt.Values.Show(found));
        }
    }

    private static void Fails(string code, Action action)
    {
        try
        {
            action();
        }
        catch (Rt.StructFrameException error)
        {
            Is(code, error.Code);
            return;
        }
        throw new Exception("expected " + code);
    }

    private static void Defaults()
    {
        var fresh = new Defaults();
        Is((sbyte)-128, fresh.I8);
        Is(ulong.MaxValue, fresh.U64);
        Is(long.MinValue, fresh.I64);
        Is(float.NegativeInfinity, fresh.F);
        Is("say \\\"hi\\\"", fresh.Text);
        Is("na\u00efve", fresh.Bounded);
        Is(new byte[] { 0x61, 0x62, 0, 0 }, fresh.Blob);
        Is(Result.Class, fresh.Result);
        Is("class", Result.Class.SchemaName());
        Is(null, ((Result)200).SchemaName());
        // Slots of arrays are zeros, not the element's defaults.
        Is((ushort)77, new Early().Late.N);
        Is((ushort)0, new Early().More[0].N);
        Is(DoorState.Shut, new Door().State);
        Is((byte)2, (byte)ValveState.Open);
    }

    private static void ShortPayloads()
    {
        Grown grown = Grown.Decode(Rt.Layout.Wire, new byte[] { 1, 2, 0xff });
        Is(0x123456ffu, grown.Up);
        Is("fresh", grown.Note);
        GrownVariable variable = GrownVariable.Decode(Rt.Layout.Wire, new byte[] { 2, 8, 9, 1, 0, 0 });
        Is(5u, variable.Up);
        Is("fresh", variable.Note);
        variable = GrownVariable.Decode(Rt.Layout.Wire, new byte[] { 0, 1, 0, 0, 0, 3, 0x68 });
        Is(1u, variable.Up);
        Is("fresh", variable.Note);
        Fails("truncated", () => GrownVariable.Decode(Rt.Layout.Wire, new byte[] { 2, 8 }));
        Fails("too_long", () => GrownVariable.Decode(Rt.Layout.Wire, new byte[] { 0, 1, 0, 0, 0, 7 }));
        Is(0, new Empty().Encode(Rt.Layout.Fixed).Length);
        Is(new EmptyVariable(), EmptyVariable.Decode(Rt.Layout.Wire, new byte[] { 1 }));
    }

    private static void CountsAndLengths()
    {
        Text clamped = Text.Decode(Rt.Layout.Fixed, new byte[] { 255, 0x61, 0x62, 0x63, 0x64 });
        Is("abcd", clamped.Text_);
        Fails("too_long", () => new Text { Text_ = "abcde" }.Encode(Rt.Layout.Fixed));
        Fails("missing_value", () => new Text { Text_ = null }.Encode(Rt.Layout.Fixed));
        Fails("text_with_zero", () => new Mixed { Data = MixedData.FromFixedText("a\0b") }.Encode(Rt.Layout.Fixed));
        var blobs = new Arrays { FixedBlobs = new[] { new byte[40] } };
        Fails("wrong_length", () => blobs.Encode(Rt.Layout.Wire));
        // Bytes that are no text come back as they were, next to ones that are.
        foreach (byte[] odd in new[]
        {
            new byte[] { 2, 0xff, 0xfe, 0, 0 },
            new byte[] { 4, 0xc3, 0xa4, 0xed, 0xa0 },
            new byte[] { 4, 0x61, 0xf0, 0x9f, 0x98 },
            new byte[] { 4, 0xf0, 0x9f, 0x98, 0x80 },
        })
        {
            Is(odd, Text.Decode(Rt.Layout.Fixed, odd).Encode(Rt.Layout.Fixed));
        }
    }

    private static void Unions()
    {
        byte[] region = { 3, 3, 3, 3, 3, 3, 3, 3 };
        var unknown = new Mixed { Data = MixedData.FromUnknown(77, region) };
        byte[] bytes = unknown.Encode(Rt.Layout.Fixed);
        Is(new byte[] { 77, 3, 3, 3, 3, 3, 3, 3, 3 }, bytes);
        Is(unknown, Mixed.Decode(Rt.Layout.Fixed, bytes));
        var mixed = new MixedTrimmed
        {
            First = MixedTrimmedFirst.FromSmall(-3),
            Second = MixedTrimmedSecond.FromText("nine"),
        };
        bytes = mixed.Encode(Rt.Layout.Wire);
        Is(new byte[] { 1, 0xfd, 0, 0, 2, 10, 0, 4, 0x6e, 0x69, 0x6e, 0x65, 0, 0, 0, 0, 0 }, bytes);
        Is(mixed, MixedTrimmed.Decode(Rt.Layout.Wire, bytes));
        Is(mixed, MixedTrimmed.Decode(Rt.Layout.Fixed, mixed.Encode(Rt.Layout.Fixed)));
        Fails("unknown_tag", () => MixedTrimmed.Decode(Rt.Layout.Wire, new byte[] { 9, 0, 0, 0, 0 }));
        // A member shorter than its message, with a length of its own, is completed with defaults.
        MixedTrimmed shorter = MixedTrimmed.Decode(Rt.Layout.Wire, new byte[] { 0, 0, 0, 0, 3, 1, 0, 5 });
        Late late;
        Is(true, shorter.Second.TryGetLate(out late));
        Is(new Late { N = 5 }, late);
        var tagless = new Tagless { Kind = 1, Body = TaglessBody.FromLate(late) };
        Is(late, tagless.Body.AsLate());
        Is(tagless, Tagless.Decode(Rt.Layout.Wire, tagless.Encode(Rt.Layout.Wire)));
    }

    private static void SeveralPackages()
    {
        Envelope envelope = Envelope.Wrap(new Other.Clash { A = 4 });
        Is(new byte[] { 3, 1, 9, 4 }, envelope.Encode(Rt.Layout.Wire));
        Is(typeof(Other.Clash), Messages.All.Find(0x0901).Type);
        Is(typeof(Clash), Messages.All.Find(0x0815).Type);
        Is("other.Borrowed", Messages.All.Find(typeof(Other.Borrowed)).Name);
        Is(null, Messages.Table.Find(0x0901));
        Is(typeof(Other.Clash), Rt.MessageTable.Merge(Messages.Table, Other.Messages.Table).Find(0x0901).Type);
        Fails("id_too_large", () => Rt.Framing.Standard.Write(envelope));
    }

    private static void Readers()
    {
        Rt.Framing framing = Rt.Framing.Network;
        Func<ushort, byte, byte[]> write = (v, sequence) => framing.Write(new Thing { V = v }, new Rt.Header(sequence, 2, 3));
        byte[] good = write(5, 1);
        byte[] bad = write(6, 2);
        bad[bad.Length - 1] ^= 1;
        // Shorter than its message ever is, and of an id that nobody knows.
        byte[] few = framing.Write(Messages.Table.Find(typeof(Thing)), new Rt.Header(5, 2, 3), new byte[] { 9 });
        var strange = new Rt.MessageInfo(typeof(Behaviour), "strange", 0x7777, 4, 4, 4, 0, 0, null);
        byte[] unknown = framing.Write(strange, new Rt.Header(6, 2, 3), new byte[4]);
        // A damaged length that swallows the frame behind it.
        byte[] damaged = write(8, 7);
        damaged[5] += (byte)good.Length;
        byte[] all = new byte[] { 0x11 }.Concat(good).Concat(bad).Concat(new byte[] { 0x90, 0x13 }).Concat(write(7, 4))
            .Concat(few).Concat(unknown).Concat(damaged).Concat(write(9, 8)).Concat(good.Take(5)).ToArray();
        var whole = new Rt.BufferReader(framing, Messages.All, all);
        string kinds = string.Join(" ", whole.Events().Select(found => found.Kind.ToString()).ToArray());
        Is("Skipped Frame BadChecksum Skipped Frame Frame Frame BadChecksum Frame Truncated", kinds);
        var reader = new Rt.AccumulatingReader(framing, Messages.All, 64);
        var events = new List<Rt.Event>();
        foreach (byte one in all)
        {
            events.AddRange(reader.Read(new[] { one }));
        }
        Is(5L, reader.PartialLength);
        events.AddRange(reader.Finish());
        Is(kinds, string.Join(" ", events.Select(found => found.Kind.ToString()).ToArray()));
        foreach (Rt.Counters counters in new[] { whole.Counters, reader.Counters })
        {
            Is(5u, counters.Frames);
            Is(1u, counters.Recovered);
            Is(1u, counters.UnknownIds);
            Is(2u, counters.CrcFailures);
            Is(3u, counters.SyncRecoveries);
            Is((uint)((3 * good.Length) + 2 + 5), counters.FailedBytes);
            Is(1u, counters.NoiseBytes);
            Is(2u, counters.LenErrors);
            Is(2u, counters.SeqGaps);
        }
        Is(new Thing { V = 5 }, Rt.BufferReader.Parse(framing, Messages.All, good).Decode());
        Is(null, Rt.BufferReader.Parse(framing, Messages.All, bad));
    }

    private static void Requests()
    {
        var transport = new Echo();
        var client = new Rt.Client(transport, Rt.Framing.Bulk, Messages.All) { System = 3 };
        int others = 0;
        client.Subscribe<Thing>(message => others += message.V);
        Thing answer = client.Request<Thing>(new Frame { Header = 1 }, found => found.V == 42);
        Is((ushort)42, answer.V);
        Is(41 + 42, others);
        Exception told = null;
        client.OnError += error => told = error;
        using (client.Subscribe<Thing>(message => { throw new InvalidOperationException("mine"); }))
        {
            client.Send(new Frame());
            while (client.Poll(10) == 0)
            {
            }
        }
        Is("mine", told.Message);
        try
        {
            client.Request<Thing>(new Frame(), found => false, 50);
            throw new Exception("expected a timeout");
        }
        catch (TimeoutException)
        {
        }
    }

    // Answers everything, five bytes at a time, after an answer to something else.
    private sealed class Echo : Rt.ITransport
    {
        private readonly Queue<byte> waiting = new Queue<byte>();

        public void Send(byte[] bytes)
        {
            foreach (ushort number in new ushort[] { 41, 42 })
            {
                foreach (byte one in Rt.Framing.Bulk.Write(new Thing { V = number }))
                {
                    waiting.Enqueue(one);
                }
            }
        }

        public int Receive(byte[] buffer, int milliseconds)
        {
            int count = Math.Min(5, waiting.Count);
            for (int i = 0; i < count; i++)
            {
                buffer[i] = waiting.Dequeue();
            }
            return count;
        }
    }
}
