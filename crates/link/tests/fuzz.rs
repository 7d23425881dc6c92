//! The fuzz targets `link_address` and `link_websocket` on their seeds.

#[path = "../fuzz/address.rs"]
mod address;
#[path = "../../../fuzz/corpus.rs"]
mod corpus;
#[path = "../fuzz/websocket.rs"]
mod websocket;

use fw_link::testing::{self, WsPeer};

#[test]
fn link_address() {
    let seeds = [
        ("serial", "serial:/dev/ttyUSB0?baud=921600&data=7&parity=even&stop=2&flow=hardware&retry=30s"),
        ("serial-kept", "serial:COM3?baud=keep"),
        ("tcp", "tcp:robot:7000?retry=never"),
        ("tcp-six", "tcp:[fe80::1]:7000"),
        ("tcp-listen", "tcp-listen:127.0.0.1:0"),
        ("udp", "udp:7000"),
        ("ws", "ws:robot:8080/data"),
        ("ws-listen", "ws-listen:8080"),
        ("file", "file:flight.bin"),
        ("standard", "-"),
        ("duration", "1.5h"),
        ("attack-brackets", "tcp:]:[:1"),
        ("attack-number", "udp:robot:99999999999999999999"),
        ("attack-pairs", "tcp:a:1?&&=&retry=&retry"),
        ("attack-control", "ws:a:1/\u{1b}[31m\r\nHost: b"),
    ];
    let seeds = seeds.map(|(name, text)| (name, text.as_bytes().to_vec()));
    corpus::check("link_address", &seeds, 2000, address::run);
}

/// A frame with its last bit, its kind and a payload; a client masks what it sends.
fn frame(head: u8, payload: &[u8], mask: bool) -> Vec<u8> {
    let mut bytes = vec![head];
    let masked = if mask { 0x80 } else { 0 };
    match payload.len() {
        len @ ..126 => bytes.push(masked | len as u8),
        len => {
            bytes.push(masked | 126);
            bytes.extend((len as u16).to_be_bytes());
        }
    }
    let key = [1, 2, 3, 4];
    if mask {
        bytes.extend(key);
    }
    bytes.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| if mask { byte ^ key } else { *byte }));
    bytes
}

#[test]
fn link_websocket() {
    let long = vec![7; 300];
    // In two parts, with a ping between them; then text, and the end.
    let talk = |mask: bool| {
        [
            frame(0x82, b"one", mask),
            frame(0x02, b"tw", mask),
            frame(0x89, b"ping", mask),
            frame(0x80, b"o", mask),
            frame(0x82, &long, mask),
            frame(0x81, "grüße".as_bytes(), mask),
            frame(0x88, &[3, 232], mask),
        ]
        .concat()
    };
    for (peer, mask) in [(WsPeer::Connected, true), (WsPeer::Answered, false)] {
        let messages = testing::websocket(peer, &talk(mask));
        assert_eq!(messages, [&b"one"[..], b"two", &long, "grüße".as_bytes()]);
    }
    let key = "dGhlIHNhbXBsZSBub25jZQ==";
    let hello = format!(
        "GET /data HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: {key}\r\n\r\n"
    );
    let with = |kind: u8, parts: &[&[u8]]| [&[kind][..], &parts.concat()].concat();
    assert_eq!(testing::websocket(WsPeer::Connects, &with(0, &[hello.as_bytes(), &talk(true)])[1..]).len(), 4);
    let answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                  Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    let seeds = [
        ("client", with(0, &[&talk(true)])),
        ("server", with(1, &[&talk(false)])),
        ("handshake", with(2, &[hello.as_bytes(), &talk(true)])),
        ("answer", with(3, &[answer.as_bytes(), &talk(false)])),
        // A frame of 2^62 bytes, a continuation of nothing, reserved bits, text that is not UTF-8, a control frame that is too long.
        ("attack-length", with(0, &[&[0x82, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]])),
        ("attack-continued", with(0, &[&frame(0x80, b"x", true)])),
        ("attack-reserved", with(1, &[&frame(0xf2, b"x", false)])),
        ("attack-text", with(1, &[&frame(0x81, &[0xff, 0xfe], false)])),
        ("attack-control", with(1, &[&frame(0x89, &long, false)])),
        ("attack-parts", with(0, &[&frame(0x02, b"", true).repeat(200)])),
        ("attack-headers", with(2, &[b"GET / HTTP/1.1\r\n", &b"A: b\r\n".repeat(500), b"\r\n"])),
    ];
    corpus::check("link_websocket", &seeds, 1000, websocket::run);
}
