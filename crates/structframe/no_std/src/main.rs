//! A robot as it would run on a microcontroller: commands arrive byte by byte, each is answered, all with generated code.
//! The program sends itself three and fails unless the answers are right.
#![no_std]
#![no_main]

// What the example for people uses, and what a test compares with what is generated.
#[rustfmt::skip]
#[path = "../../../../examples/struct-frame/rust/generated/mod.rs"]
#[allow(dead_code, reason = "a program uses its share of a schema")]
mod messages;

use fw_structframe::{Event, Frames, Header, Profile, Stream, Text, read_message, write_message};
use messages::robot::{Acknowledge, Command, CommandOrder, GoTo, Halt, Vector3};
use messages::{AnyMessage, MESSAGES};

/// The entry point that the C runtime calls; its number is the program's.
#[unsafe(no_mangle)]
pub extern "C" fn main(_count: i32, _words: *const *const u8) -> i32 {
    let target = Vector3 { x: 3.0, y: 4.0, z: 0.0 };
    let orders = [
        (CommandOrder::GoTo(GoTo { target, ..GoTo::default() }), true, "on my way"),
        (CommandOrder::Halt(Halt { reason: Text::literal("tea time") }), true, "tea time"),
        (CommandOrder::Unset, false, "nothing to do"),
    ];
    for (sequence, (order, accepted, note)) in (1..).zip(orders) {
        let command = Command { sequence, order };
        let expected = Acknowledge { sequence, accepted, note: Text::literal(note), ..Acknowledge::default() };
        if ask(&command) != Some(expected) {
            return i32::try_from(sequence).unwrap_or(i32::MAX);
        }
    }
    0
}

/// Sends a command through bytes to the robot, and reads its answer from bytes.
fn ask(command: &Command) -> Option<Acknowledge> {
    let framing = Profile::Network.framing();
    let mut room = [0; 128];
    let frame = write_message(framing, Header { sequence: 1, system: 2, component: 3 }, command, &mut room).ok()?;
    let mut answer = None;
    serve(frame, |bytes| {
        if let Some(Event::Frame(frame)) = Frames::new(framing, &MESSAGES[..], bytes).next() {
            answer = read_message(framing, &frame).ok();
        }
    });
    answer
}

/// The robot: feeds received bytes one by one and hands the bytes of each answer to `send`.
fn serve(received: &[u8], mut send: impl FnMut(&[u8])) {
    let framing = Profile::Network.framing();
    let mut stream = Stream::new(framing, &MESSAGES[..], [0; 1024]);
    let mut room = [0; 512];
    for byte in received {
        stream.read(core::slice::from_ref(byte), |event| {
            let Event::Frame(frame) = event else { return };
            let Ok(Some(AnyMessage::Command(command))) = AnyMessage::read(framing, &frame) else { return };
            if let Ok(answer) = write_message(framing, frame.header, &obey(&command), &mut room) {
                send(answer);
            }
        });
    }
}

fn obey(command: &Command) -> Acknowledge {
    let (accepted, note) = match &command.order {
        CommandOrder::GoTo(order) => (order.target.x == 3.0, "on my way"),
        CommandOrder::Halt(order) => (true, order.reason.as_str().unwrap_or("?")),
        CommandOrder::Unset => (false, "nothing to do"),
        CommandOrder::Unknown { .. } => (false, "not known here"),
    };
    let note = Text::new(note).unwrap_or_default();
    Acknowledge { sequence: command.sequence, accepted, note, ..Acknowledge::default() }
}

// The C runtime that calls `main`; without the standard library nobody else asks for it.
#[cfg_attr(target_family = "unix", link(name = "c"))]
unsafe extern "C" {}

/// The `core` that comes with the compiler names it for unwinding, of which there is none here.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
