-- What does not depend on the schema: framings, checksums, and a walk over the tables above.

-- Payload kinds by their number: which fields stand in front of the payload.
local kinds = {
  [0] = { name = "Minimal", len = 0 },
  { name = "Default", len = 1 },
  { name = "ExtendedMsgIds", len = 1, package = true },
  { name = "ExtendedLength", len = 2 },
  { name = "Extended", len = 2, package = true },
  { name = "SysComp", len = 1, system = true },
  { name = "Seq", len = 1, sequence = true },
  { name = "MultiSystemStream", len = 1, sequence = true, system = true },
  { name = "ExtendedMultiSystemStream", len = 2, sequence = true, system = true, package = true },
}

local profiles = { ["2.1"] = "Standard", ["1.0"] = "Sensor", ["0.0"] = "IPC", ["2.4"] = "Bulk", ["2.8"] = "Network" }
local headers = { [0] = "None", "Tiny", "Basic" }

local proto = Proto(schema.abbreviation, schema.title)

local frame_fields = {
  framing = ProtoField.string(schema.abbreviation .. ".frame_framing", "Framing"),
  start = ProtoField.bytes(schema.abbreviation .. ".frame_start", "Start"),
  sequence = ProtoField.uint8(schema.abbreviation .. ".frame_sequence", "Sequence"),
  system = ProtoField.uint8(schema.abbreviation .. ".frame_system", "System"),
  component = ProtoField.uint8(schema.abbreviation .. ".frame_component", "Component"),
  length = ProtoField.uint16(schema.abbreviation .. ".frame_length", "Length"),
  id = ProtoField.uint16(schema.abbreviation .. ".frame_id", "Message id", base.DEC_HEX),
  message = ProtoField.string(schema.abbreviation .. ".frame_message", "Message"),
  payload = ProtoField.bytes(schema.abbreviation .. ".frame_payload", "Payload"),
  checksum = ProtoField.bytes(schema.abbreviation .. ".frame_checksum", "Checksum"),
  checksum_good = ProtoField.bool(schema.abbreviation .. ".frame_checksum_good", "Checksum good"),
  tag = ProtoField.uint16(schema.abbreviation .. ".frame_tag", "Tag", base.DEC_HEX),
  count = ProtoField.uint16(schema.abbreviation .. ".frame_count", "Count"),
  surplus = ProtoField.bytes(schema.abbreviation .. ".frame_surplus", "Bytes of a newer peer"),
}

local experts = {
  checksum = ProtoExpert.new(schema.abbreviation .. ".bad_checksum", "wrong checksum",
    expert.group.CHECKSUM, expert.severity.ERROR),
  unknown = ProtoExpert.new(schema.abbreviation .. ".unknown_id", "no message has this id",
    expert.group.UNDECODED, expert.severity.NOTE),
  short = ProtoExpert.new(schema.abbreviation .. ".short", "the payload ends before this field",
    expert.group.MALFORMED, expert.severity.WARN),
  bound = ProtoExpert.new(schema.abbreviation .. ".bound", "the count exceeds the bound of the field",
    expert.group.MALFORMED, expert.severity.WARN),
  tag = ProtoExpert.new(schema.abbreviation .. ".unknown_tag", "no member has this tag",
    expert.group.UNDECODED, expert.severity.NOTE),
}

-- One field of Wireshark for every field of every message, so that each can be filtered for.
local makers = {
  uint8 = ProtoField.uint8, int8 = ProtoField.int8, uint16 = ProtoField.uint16, int16 = ProtoField.int16,
  uint32 = ProtoField.uint32, int32 = ProtoField.int32, uint64 = ProtoField.uint64, int64 = ProtoField.int64,
  float = ProtoField.float, double = ProtoField.double, bool = ProtoField.bool,
  string = ProtoField.string, bytes = ProtoField.bytes, message = ProtoField.none,
}

local all_fields = {}
for _, field in pairs(frame_fields) do
  all_fields[#all_fields + 1] = field
end
for _, message in ipairs(schema.messages) do
  local function declare(item, scope)
    local abbreviation = scope .. "." .. item.filter
    if item.kind == "enum" then
      item.proto = ProtoField.uint8(abbreviation, item.name, base.DEC, schema.enums[item.enum])
    else
      item.proto = makers[item.kind](abbreviation, item.name)
    end
    all_fields[#all_fields + 1] = item.proto
  end
  for _, field in ipairs(message.fields) do
    declare(field, message.filter)
  end
  for _, union in ipairs(message.unions) do
    union.proto = ProtoField.none(message.filter .. "." .. union.filter, union.name)
    all_fields[#all_fields + 1] = union.proto
    for _, member in ipairs(union.members) do
      declare(member, message.filter .. "." .. union.filter)
    end
  end
end
proto.fields = all_fields
proto.experts = { experts.checksum, experts.unknown, experts.short, experts.bound, experts.tag }

-- Framings without start bytes cannot be recognised; the others are told by them unless one is chosen.
local choices = { { 1, "by start bytes", -1 } }
for header = 0, 2 do
  for kind = 0, 8 do
    local profile = profiles[header .. "." .. kind]
    local name = headers[header] .. " + " .. kinds[kind].name .. (profile and " (" .. profile .. ")" or "")
    choices[#choices + 1] = { #choices + 1, name, header * 16 + kind }
  end
end
proto.prefs.framing = Pref.enum("Framing", -1, "Which bytes stand around a payload", choices, false)
proto.prefs.udp_ports = Pref.range("UDP ports", "", "Ports that always carry these frames", 65535)
proto.prefs.tcp_ports = Pref.range("TCP ports", "", "Ports that always carry these frames", 65535)

-- The framing at a position: chosen, or told by the start bytes; nil when there is none. The second value is true when
-- more bytes are needed to tell.
local function framing_at(range, at)
  local chosen = proto.prefs.framing
  if chosen and chosen >= 0 then
    return math.floor(chosen / 16), chosen % 16
  end
  local left = range:len() - at
  local first = range(at, 1):uint()
  if first == 0x90 then
    if left < 2 then
      return nil, nil, true
    end
    local kind = range(at + 1, 1):uint() - 0x70
    if kinds[kind] then
      return 2, kind
    end
  elseif kinds[first - 0x70] then
    return 1, first - 0x70
  end
  return nil
end

local function message_of(id)
  local index = schema.ids[id]
  return index and schema.messages[index]
end

-- Reads the header of a frame. Returns nil when no frame begins here, and how many bytes it needs when they are not there.
local function parse(range, at)
  local left = range:len() - at
  local header, kind, undecided = framing_at(range, at)
  if undecided then
    return nil, 2
  elseif not header then
    return nil
  end
  local row = kinds[kind]
  local frame = { at = at, header = header, kind = kind, row = row, start = header }
  if header > 0 then
    local expected = header == 2 and 0x9070 + kind or 0x70 + kind
    if left < header then
      return nil, header
    elseif range(at, header):uint() ~= expected then
      return nil
    end
  end
  local place = at + header
  local need = header + (row.sequence and 1 or 0) + (row.system and 2 or 0) + row.len + (row.package and 1 or 0) + 1
  if left < need then
    return nil, need
  end
  local function take(len)
    local part = range(place, len)
    place = place + len
    return part
  end
  frame.sequence = row.sequence and take(1)
  frame.system = row.system and take(1)
  frame.component = row.system and take(1)
  frame.length = row.len > 0 and take(row.len)
  frame.id_range = take(row.package and 2 or 1)
  frame.id = frame.id_range:uint() -- PKG stands in front of MSG
  frame.message = message_of(frame.id)
  frame.payload_at = place
  if frame.length then
    frame.payload_len = frame.length:le_uint()
    frame.len = need + frame.payload_len + 2
  elseif frame.message then
    frame.payload_len = frame.message.max
    frame.len = need + frame.payload_len
  else
    return nil
  end
  if left < frame.len then
    return nil, frame.len
  end
  return frame
end

-- Two sums of bytes; the seeds of the message come after the part that every version of it has.
local function checksum(range, frame)
  local message = frame.message
  local magic = message and message.magic or { 0, 0 }
  local split = message and message.base < frame.payload_len and message.base or frame.payload_len
  local a, b = 0, 0
  local function roll(x)
    a = (a + x) % 256
    b = (b + a) % 256
  end
  local from = frame.at + frame.start
  local covered = range:bytes(from, frame.payload_at + frame.payload_len - from)
  local seeded = frame.payload_at + split - from
  for index = 0, covered:len() do
    if index == seeded then
      roll(magic[1])
      roll(magic[2])
    end
    if index < covered:len() then
      roll(covered:get_index(index))
    end
  end
  return a, b
end

local function checksum_is_good(range, frame)
  if not frame.length then
    return true
  end
  local a, b = checksum(range, frame)
  local found = range(frame.payload_at + frame.payload_len, 2)
  return found(0, 1):uint() == a and found(1, 1):uint() == b, a, b
end

local show_fixed

-- One value of a known width.
local function show_value(tree, item, part, label)
  local node
  if item.kind == "message" then
    node = tree:add(item.proto, part)
    node:set_text((label or item.name) .. ": " .. schema.messages[item.message].name)
    show_fixed(node, schema.messages[item.message], part)
  elseif item.kind == "string" then
    local text = part:string(ENC_UTF_8)
    local padding = string.find(text, "\0", 1, true)
    node = tree:add(item.proto, part, padding and string.sub(text, 1, padding - 1) or text)
  elseif item.kind == "bytes" then
    node = tree:add(item.proto, part)
  else
    node = tree:add_le(item.proto, part)
  end
  if label and item.kind ~= "message" then
    node:prepend_text(label .. " ")
  end
  return node
end

-- A field at `at` of a payload; returns where the next one begins, or nil when the payload ends first. `trim` is true in
-- the wire layout of a variable message, where only what is used is there.
local function show_field(tree, field, payload, at, trim)
  local left = payload:len() - at
  local width = trim and field.prefix > 0 and field.prefix or field.size
  if left < width then
    if not field.extension then
      tree:add_proto_expert_info(experts.short, field.name .. ": the payload ends before this field")
    end
    return nil
  end
  if field.prefix == 0 and not field.array then
    show_value(tree, field, payload(at, field.size))
    return at + field.size
  end
  local count, begin = field.count, at + field.prefix
  if field.prefix > 0 then
    count = payload(at, field.prefix):le_uint()
  end
  local shown = math.min(count, field.bound or count)
  local used = trim and field.prefix > 0 and count * field.unit or field.size - field.prefix
  if payload:len() - begin < (trim and used or shown * field.unit) then
    tree:add_proto_expert_info(experts.short, field.name .. ": the payload ends before this field does")
    return nil
  end
  local node = tree
  if field.array then
    node = tree:add(proto, payload(at, math.max(field.prefix + shown * field.unit, 1)), field.name .. ": " .. shown .. " elements")
    for index = 0, shown - 1 do
      show_value(node, field, payload(begin + index * field.unit, field.unit), field.name .. "[" .. index .. "]")
    end
  elseif shown > 0 then
    node = show_value(tree, field, payload(begin, shown))
  else
    if field.kind == "string" then
      node = tree:add(field.proto, payload(begin, 0), "")
    else
      node = tree:add(field.proto, payload(begin, 0))
    end
    node:append_text(" (empty)")
  end
  if field.prefix > 0 then
    node:add_le(frame_fields.count, payload(at, field.prefix))
    if count > field.bound then
      node:add_proto_expert_info(experts.bound)
    end
  end
  return begin + used
end

local function member_of(union, tag)
  for _, member in ipairs(union.members) do
    if member.tag == tag then
      return member
    end
  end
end

local function show_member(node, member, region)
  if region:len() < member.size then
    node:add_proto_expert_info(experts.short, member.name .. ": the payload ends before this member does")
  elseif member.size > 0 then
    show_field(node, member, region, 0, false)
  end
end

-- A union at `at`; returns where the next thing begins, or nil.
local function show_union(tree, union, payload, at, trim)
  local left = payload:len() - at
  local mode = trim and union.wire or "full"
  local head = union.tag + (mode == "prefixed" and 2 or 0)
  if left < head then
    tree:add_proto_expert_info(experts.short, union.name .. ": the payload ends before this union")
    return nil
  end
  local tag = union.tag > 0 and payload(at, union.tag):le_uint() or nil
  local member = tag and member_of(union, tag)
  local len
  if mode == "full" then
    len = union.region
  elseif mode == "prefixed" then
    len = payload(at + union.tag, 2):le_uint()
  else
    len = math.max(member and member.size or 0, union.min)
  end
  len = math.min(len, left - head)
  local node = tree:add(union.proto, payload(at, head + len))
  if union.tag > 0 then
    node:add_le(frame_fields.tag, payload(at, union.tag))
  end
  if member then
    node:set_text(union.name .. ": " .. member.name)
    show_member(node, member, len > 0 and payload(at + head, len):tvb() or ByteArray.new():tvb(union.name))
  elseif tag == 0 then
    node:set_text(union.name .. ": unset")
  elseif tag then
    node:set_text(union.name .. ": unknown member")
    node:add_proto_expert_info(experts.tag)
  else
    -- Without a tag nobody on the wire knows: every member that it could be.
    node:set_text(union.name .. ": one of")
    for _, possible in ipairs(union.members) do
      if possible.size <= len and len > 0 then
        show_member(node, possible, payload(at + head, len):tvb())
      end
    end
  end
  return at + head + len
end

local function show_message(tree, message, payload, trim)
  local at = 0
  for _, field in ipairs(message.fields) do
    at = show_field(tree, field, payload, at, trim)
    if not at then
      return payload:len()
    end
  end
  for _, union in ipairs(message.unions) do
    at = show_union(tree, union, payload, at, trim)
    if not at then
      return payload:len()
    end
  end
  return at
end

show_fixed = function(tree, message, part)
  show_message(tree, message, part:tvb(), false)
end

local function show_frame(range, frame, pinfo, tree)
  local part = range(frame.at, frame.len)
  local message = frame.message
  local name = message and message.name or "message " .. frame.id
  local node = tree:add(proto, part, schema.title .. ", " .. name)
  local profile = profiles[frame.header .. "." .. frame.kind]
  local framing = profile or headers[frame.header] .. " + " .. frame.row.name
  node:add(frame_fields.framing, framing):set_generated()
  if frame.start > 0 then
    node:add(frame_fields.start, range(frame.at, frame.start))
  end
  for _, field in ipairs({ "sequence", "system", "component" }) do
    if frame[field] then
      node:add(frame_fields[field], frame[field])
    end
  end
  if frame.length then
    node:add_le(frame_fields.length, frame.length)
  end
  local id = node:add(frame_fields.id, frame.id_range)
  node:add(frame_fields.message, frame.id_range, name):set_generated()

  local good, a, b = checksum_is_good(range, frame)
  if not message then
    id:add_proto_expert_info(experts.unknown)
  end
  if frame.payload_len > 0 then
    local payload = range(frame.payload_at, frame.payload_len)
    local inner = node:add(frame_fields.payload, payload)
    if message then
      inner:set_text(name)
      local trim = message.variable and frame.length ~= false
      local used = show_message(inner, message, payload:tvb(), trim)
      -- The fixed layout of a message with length-prefixed unions ends with zero bytes in their place.
      if frame.length and frame.payload_len > used and frame.payload_len > message.max then
        inner:add(frame_fields.surplus, payload(used, frame.payload_len - used))
      end
    end
  end
  if frame.length then
    local sum = node:add(frame_fields.checksum, range(frame.payload_at + frame.payload_len, 2))
    sum:add(frame_fields.checksum_good, good):set_generated()
    if not good then
      sum:append_text(string.format(", expected %02x%02x", a, b))
      sum:add_proto_expert_info(experts.checksum)
    end
  end
  return name, good
end

-- Every frame of a packet; in a stream the rest of an unfinished frame is asked for. A frame with a wrong checksum is
-- shown, and searched: its length may be what is damaged.
local function dissect(range, pinfo, tree, is_stream)
  local at, names = 0, {}
  while at < range:len() do
    local frame, need = parse(range, at)
    if frame then
      local name, good = show_frame(range, frame, pinfo, tree)
      names[#names + 1] = good and name or name .. " [bad checksum]"
      at = at + (good and frame.len or math.max(frame.start, 1))
    elseif need and is_stream then
      pinfo.desegment_offset = at
      pinfo.desegment_len = need - (range:len() - at)
      break
    else
      at = at + 1
    end
  end
  if #names > 0 or is_stream then
    pinfo.cols.protocol = schema.short
  end
  if #names > 0 then
    pinfo.cols.info = table.concat(names, ", ")
  end
  return range:len()
end

function proto.dissector(range, pinfo, tree)
  return dissect(range, pinfo, tree, pinfo.can_desegment > 0)
end

-- A packet is ours when it begins with a complete frame of a known message whose checksum is right.
local function is_ours(range)
  if range:len() == 0 or (proto.prefs.framing or -1) >= 0 then
    return false
  end
  local frame = parse(range, 0)
  return frame ~= nil and frame.length ~= false and frame.message ~= nil and checksum_is_good(range, frame)
end

local function udp_heuristic(range, pinfo, tree)
  if not is_ours(range) then
    return false
  end
  dissect(range, pinfo, tree, false)
  return true
end

local function tcp_heuristic(range, pinfo, tree)
  if not is_ours(range) then
    return false
  end
  pinfo.conversation = proto
  dissect(range, pinfo, tree, true)
  return true
end

proto:register_heuristic("udp", udp_heuristic)
proto:register_heuristic("tcp", tcp_heuristic)

local registered = { udp = "", tcp = "" }
function proto.prefs_changed()
  for _, transport in ipairs({ "udp", "tcp" }) do
    local ports = DissectorTable.get(transport .. ".port")
    local wanted = tostring(proto.prefs[transport .. "_ports"] or "")
    if wanted ~= registered[transport] then
      if registered[transport] ~= "" then
        ports:remove(registered[transport], proto)
      end
      if wanted ~= "" then
        ports:add(wanted, proto)
      end
      registered[transport] = wanted
    end
  end
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, proto)
DissectorTable.get("udp.port"):add_for_decode_as(proto)
DissectorTable.get("tcp.port"):add_for_decode_as(proto)
