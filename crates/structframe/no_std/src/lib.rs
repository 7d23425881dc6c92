//! Echoes every good frame that arrives byte by byte, as a microcontroller would.
#![no_std]

use fw_structframe::{Event, MessageInfo, Profile, Stream, write};

const PING: MessageInfo = MessageInfo { id: 7, max_size: 4, base_size: 4, min_size: 4, magic: [0x1d, 0x2e] };

/// Feeds received bytes one by one and hands the bytes of each answer to `send`.
pub fn echo(received: &[u8], mut send: impl FnMut(&[u8])) {
    let framing = Profile::Standard.framing();
    let mut stream = Stream::new(framing, [PING], [0; 64]);
    let mut room = [0; 32];
    for byte in received {
        stream.read(core::slice::from_ref(byte), |event| {
            if let Event::Frame(frame) = event
                && let Ok(answer) = write(framing, frame.header, &PING, frame.payload, &mut room)
            {
                send(answer);
            }
        });
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
