// structframe.hpp: frames, checksums, readers and values of struct-frame, in C++17, header-only. Nothing uses the heap.
//
// Shipped by `fw gen` beside the code it generates. Nothing here depends on a schema.
//
// Writing:  write(message, framing, header, out, capacity) encodes a message and puts a frame around it.
// Reading:  BufferReader reads a whole buffer, Stream chunks of any size down to one byte. Both run the same state machine
//           and tell the same events, however the bytes were split. A frame with a wrong checksum is reported and then
//           searched for good frames, so that a damaged length swallows nothing.
// Talking:  Client dispatches received messages to subscribers and sends requests that wait for their response, over a
//           transport that you supply.
//
// Messages are plain structs. What is known about their layout is in Codec<Message>, so that no field name can meet it.
// All functions accept any bytes from the other side.
//
// Switches, to be the same for every file of a program:
//   STRUCTFRAME_ONLY_FRAMING  a payload kind such as Extended: every framing in use is Basic with this kind, whatever is asked
//                             for at run time, which makes the code smaller
//   STRUCTFRAME_NO_NAMES      leaves out the names of messages and packages
//   STRUCTFRAME_NO_SEARCH     leaves out the search for good frames inside failed ones: a damaged length may then swallow frames
#ifndef STRUCTFRAME_HPP
#define STRUCTFRAME_HPP

#include "structframe/basic.hpp"
#include "structframe/framing.hpp"
#include "structframe/message.hpp"
#include "structframe/values.hpp"
#include "structframe/field.hpp"
#include "structframe/union.hpp"
#include "structframe/layout.hpp"
#include "structframe/sums.hpp"
#include "structframe/frame.hpp"
#include "structframe/event.hpp"
#include "structframe/machine.hpp"
#include "structframe/reader.hpp"
#include "structframe/client.hpp"

#endif
