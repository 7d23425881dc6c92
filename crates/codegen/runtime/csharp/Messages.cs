// struct-frame: messages as readers and clients know them. A fixed part of the code that `fw gen` writes for C#.

using System;
using System.Collections.Generic;

namespace StructFrameRuntime
{
    /// <summary>A message that can be framed.</summary>
    public interface IMessage
    {
        /// <summary>Sizes, seeds and id.</summary>
        MessageInfo Info { get; }

        /// <summary>The payload in this layout.</summary>
        /// <exception cref="StructFrameException">A value does not fit its field.</exception>
        byte[] Encode(Layout layout);
    }

    /// <summary>Sizes and checksum seeds of a message, and how to make one.</summary>
    public sealed class MessageInfo
    {
        private readonly Func<Layout, byte[], int, int, IMessage> decode;

        /// <summary>What generated code says about a message.</summary>
        public MessageInfo(
            Type type,
            string name,
            ushort id,
            int maxSize,
            int baseSize,
            int minSize,
            byte magic1,
            byte magic2,
            Func<Layout, byte[], int, int, IMessage> decode)
        {
            Type = type;
            Name = name;
            Id = id;
            MaxSize = maxSize;
            BaseSize = baseSize;
            MinSize = minSize;
            Magic1 = magic1;
            Magic2 = magic2;
            this.decode = decode;
        }

        /// <summary>Its class.</summary>
        public Type Type { get; }

        /// <summary>Package and name in the schema.</summary>
        public string Name { get; }

        /// <summary>Effective id.</summary>
        public ushort Id { get; }

        /// <summary>Bytes of the fixed layout, and the most that the wire layout can have.</summary>
        public int MaxSize { get; }

        /// <summary>Bytes without extensions.</summary>
        public int BaseSize { get; }

        /// <summary>The shortest payload.</summary>
        public int MinSize { get; }

        /// <summary>First seed of the checksum.</summary>
        public byte Magic1 { get; }

        /// <summary>Second seed of the checksum.</summary>
        public byte Magic2 { get; }

        /// <summary>Reads a payload.</summary>
        /// <exception cref="StructFrameException">Bytes are missing that must be there.</exception>
        public IMessage Decode(Layout layout, byte[] payload)
        {
            return decode(layout, payload, 0, payload.Length);
        }
    }

    /// <summary>Knows messages by their effective id. Tables of several packages can be merged.</summary>
    public sealed class MessageTable
    {
        private readonly Dictionary<ushort, MessageInfo> byId = new Dictionary<ushort, MessageInfo>();
        private readonly Dictionary<Type, MessageInfo> byType = new Dictionary<Type, MessageInfo>();

        /// <summary>A table of these.</summary>
        public MessageTable(params MessageInfo[] messages)
        {
            foreach (MessageInfo info in messages)
            {
                Add(info);
            }
        }

        /// <summary>One table of all; where ids collide, the first table's message stays.</summary>
        public static MessageTable Merge(params MessageTable[] tables)
        {
            var all = new MessageTable();
            foreach (MessageTable table in tables)
            {
                foreach (MessageInfo info in table.byId.Values)
                {
                    all.Add(info);
                }
            }
            return all;
        }

        /// <summary>All messages.</summary>
        public IEnumerable<MessageInfo> Messages => byId.Values;

        /// <summary>The message with this id; null when there is none.</summary>
        public MessageInfo Find(ushort id)
        {
            MessageInfo info;
            return byId.TryGetValue(id, out info) ? info : null;
        }

        /// <summary>The message of this class; null when there is none.</summary>
        public MessageInfo Find(Type type)
        {
            MessageInfo info;
            return byType.TryGetValue(type, out info) ? info : null;
        }

        private void Add(MessageInfo info)
        {
            if (!byId.ContainsKey(info.Id))
            {
                byId.Add(info.Id, info);
                byType[info.Type] = info;
            }
        }
    }
}
