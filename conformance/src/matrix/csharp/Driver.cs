// The command line of a program of the matrix; `Cases.cs` holds the cases.

using System;
using System.Collections.Generic;
using System.IO;
using StructFrameRuntime;

public sealed class Case
{
    public Framing Framing;
    public Header Header;
    public Func<IMessage> Message;

    public Case(int header, int payload, byte sequence, byte system, byte component, Func<IMessage> message)
    {
        Framing = Driver.Of(header, payload);
        Header = new Header(sequence, system, component);
        Message = message;
    }
}

public static class Driver
{
    public static Framing Of(int header, int payload)
    {
        return new Framing((HeaderKind)header, (PayloadKind)payload);
    }

    public static float F32(uint bits)
    {
        return BitConverter.ToSingle(BitConverter.GetBytes(bits), 0);
    }

    public static double F64(ulong bits)
    {
        return BitConverter.Int64BitsToDouble(unchecked((long)bits));
    }

    public static byte[] Bytes(string hex)
    {
        var bytes = new byte[hex.Length / 2];
        for (int i = 0; i < bytes.Length; i++)
        {
            bytes[i] = Convert.ToByte(hex.Substring(2 * i, 2), 16);
        }
        return bytes;
    }

    public static int Main(string[] arguments)
    {
        switch (arguments[0])
        {
            case "encode":
                Encode(arguments[1]);
                return 0;
            case "decode":
                Decode(new BinaryReader(File.OpenRead(arguments[1])));
                return 0;
            case "hostile":
                Hostile(new BinaryReader(File.OpenRead(arguments[1])));
                return 0;
            default:
                return 2;
        }
    }

    private static void Encode(string path)
    {
        using (var file = new BinaryWriter(File.Create(path)))
        {
            foreach (Case one in Cases.All())
            {
                try
                {
                    byte[] frame = one.Framing.Write(one.Message(), one.Header);
                    file.Write((uint)frame.Length);
                    file.Write(frame);
                }
                catch (StructFrameException)
                {
                    file.Write(uint.MaxValue);
                }
            }
        }
    }

    private static void Decode(BinaryReader records)
    {
        foreach (Case one in Cases.All())
        {
            uint length = records.ReadUInt32();
            if (length == uint.MaxValue)
            {
                Console.WriteLine("ok");
                continue;
            }
            byte[] frame = records.ReadBytes((int)length);
            string why = Check(one, "buffer", new BufferReader(one.Framing, Cases.Table, frame).Events())
                ?? Check(one, "chunks of 1", Chunks(one.Framing, frame, 1))
                ?? Check(one, "chunks of 7", Chunks(one.Framing, frame, 7));
            Console.WriteLine(why == null ? "ok" : "bad " + why.Replace('\n', ' '));
        }
    }

    private static List<Event> Chunks(Framing framing, byte[] bytes, int step)
    {
        var reader = new AccumulatingReader(framing, Cases.Table);
        var events = new List<Event>();
        for (int at = 0; at < bytes.Length; at += step)
        {
            events.AddRange(reader.Read(bytes, at, Math.Min(step, bytes.Length - at)));
        }
        events.AddRange(reader.Finish());
        return events;
    }

    private static string Check(Case one, string how, IEnumerable<Event> events)
    {
        int found = 0;
        foreach (Event item in events)
        {
            if (item.Kind != EventKind.Frame)
            {
                return how + ": " + item.Kind;
            }
            found++;
            Framing framing = one.Framing;
            var header = new Header(
                framing.HasSequence ? one.Header.Sequence : (byte)0,
                framing.HasSystem ? one.Header.System : (byte)0,
                framing.HasSystem ? one.Header.Component : (byte)0);
            if (!item.Frame.Header.Equals(header))
            {
                return how + ": another header";
            }
            try
            {
                IMessage read = item.Frame.Decode();
                IMessage mine = one.Message();
                if (!mine.Equals(read) || mine.GetHashCode() != read.GetHashCode())
                {
                    return how + ": read " + read;
                }
            }
            catch (StructFrameException error)
            {
                return how + ": " + error.Code + " " + error.Message;
            }
        }
        return found == 1 ? null : how + ": " + found + " frames";
    }

    private static void Hostile(BinaryReader records)
    {
        long good = 0;
        long bad = 0;
        long accepted = 0;
        uint sum = 0;
        while (records.BaseStream.Position < records.BaseStream.Length)
        {
            Framing framing = Cases.Framings[records.ReadByte()];
            byte[] bytes = records.ReadBytes((int)records.ReadUInt32());
            long goodBefore = good;
            long badBefore = bad;
            foreach (Event found in new BufferReader(framing, Cases.Table, bytes).Events())
            {
                if (found.Kind == EventKind.BadChecksum)
                {
                    bad++;
                }
                if (found.Kind != EventKind.Frame)
                {
                    continue;
                }
                good++;
                IMessage message;
                try
                {
                    message = found.Frame.Decode();
                }
                catch (StructFrameException)
                {
                    continue;
                }
                if (message != null)
                {
                    accepted++;
                    foreach (byte one in framing.Write(message, found.Frame.Header))
                    {
                        sum = unchecked(sum * 31 + one);
                    }
                }
            }
            foreach (Event found in Chunks(framing, bytes, 7))
            {
                goodBefore += found.Kind == EventKind.Frame ? 1 : 0;
                badBefore += found.Kind == EventKind.BadChecksum ? 1 : 0;
            }
            if (goodBefore != good || badBefore != bad)
            {
                throw new InvalidOperationException("chunks give what the buffer gives");
            }
        }
        Console.WriteLine("done " + good + " " + bad + " " + accepted + " " + sum);
    }
}
