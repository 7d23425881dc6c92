//! One end of a link: `peer robot|operator tcp|udp|serial [PORT or PATH]`. What it says is checked by `links.rs`.

mod messages;

use fw_structframe::transport::{StreamTransport, TcpTransport, UdpTransport, within};
use fw_structframe::{Bounded, Client, ClientError, Framing, Message, MessageInfo, Profile, Text, Transport, read_message};
use messages::robot::{Acknowledge, Command, CommandOrder, GoTo, Halt, Telemetry, Vector3};
use std::error::Error;
use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::time::{Duration, Instant};

const FRAMING: Framing = Profile::Network.framing();
type Link<T> = Client<T, [MessageInfo; 5], [u8; 2048]>;

fn client<T: Transport>(transport: T) -> Link<T> {
    Client::new(transport, FRAMING, messages::MESSAGES, [[0; 2048]; 3])
}

/// The device is in raw mode already: that takes more than the standard library.
fn serial(path: &str) -> io::Result<StreamTransport<File>> {
    let port = File::options().read(true).write(true).open(path)?;
    Ok(StreamTransport::new(port.try_clone()?, port))
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let place = words.get(2).map_or("", String::as_str);
    match [words[0].as_str(), words[1].as_str()] {
        ["robot", "tcp"] => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            println!("ready {}", listener.local_addr()?.port());
            serve(client(TcpTransport::new(listener.accept()?.0)?))
        }
        ["robot", "udp"] => {
            let transport = UdpTransport::listen("127.0.0.1:0")?;
            println!("ready {}", transport.local_addr()?.port());
            serve(client(transport))
        }
        ["robot", _] => {
            let transport = serial(place)?;
            println!("ready");
            serve(client(transport))
        }
        [_, "tcp"] => operate(client(TcpTransport::connect(("127.0.0.1", place.parse()?))?), true),
        [_, "udp"] => {
            operate(client(UdpTransport::connect("127.0.0.1:0", ("127.0.0.1", place.parse::<u16>()?))?), false)
        }
        _ => operate(client(serial(place)?), false),
    }
}

fn log() -> Vec<u8> {
    (0..250).collect()
}

fn serve<T: Transport<Error = io::Error>>(mut link: Link<T>) -> Result<(), Box<dyn Error>> {
    let telemetry = Telemetry { ranges_mm: Bounded::from_slice(&[7; 32])?, ..Telemetry::default() };
    let mut sent = Instant::now();
    loop {
        let mut commands = Vec::new();
        link.poll(|frame| {
            if frame.id == Command::MSG_ID {
                commands.extend(read_message::<Command>(FRAMING, frame));
            }
        })?;
        for command in commands {
            let (accepted, note) = match &command.order {
                CommandOrder::GoTo(order) => (order.target.x == 1.5 && order.speed == 0.75, "go".to_owned()),
                CommandOrder::Halt(order) if order.reason.as_str() == Ok("hang up") => return Ok(()),
                CommandOrder::Halt(order) => (true, order.reason.to_string()),
                _ => (false, String::new()),
            };
            let note = Text::new(&format!("rust: {note}"))?;
            link.send(&Acknowledge {
                sequence: command.sequence,
                accepted,
                note,
                log: Bounded::from_slice(&log())?,
            })?;
        }
        if sent.elapsed() >= Duration::from_millis(20) {
            sent = Instant::now();
            match link.send(&telemetry) {
                // Over UDP nobody is there before the first command.
                Err(ClientError::Transport(error)) if error.kind() == io::ErrorKind::NotConnected => {}
                outcome => outcome?,
            }
        }
    }
}

fn operate<T: Transport<Error = io::Error>>(mut link: Link<T>, closes: bool) -> Result<(), Box<dyn Error>> {
    let mut words = Vec::new();
    let target = Vector3 { x: 1.5, ..Vector3::default() };
    let orders: [CommandOrder; 2] =
        [GoTo { target, speed: 0.75 }.into(), Halt { reason: Text::new("grüße")? }.into()];
    for (sequence, order) in (1..).zip(orders) {
        let mine = |answer: &Acknowledge| answer.sequence == sequence;
        let answer = link.request(&Command { sequence, order }, mine, |_| {}, within(Duration::from_secs(5)))?;
        assert!(answer.accepted && answer.log[..] == log()[..]);
        words.push(answer.note.to_string());
    }
    let mut seen = 0;
    let mut patient = within(Duration::from_secs(5));
    while seen < 3 {
        assert!(patient(), "telemetry is missing");
        link.poll(|frame| seen += usize::from(frame.id == Telemetry::MSG_ID))?;
    }
    assert_eq!(link.counters().crc_failures, 0);
    let last = Command { sequence: 3, order: Halt { reason: Text::new("hang up")? }.into() };
    if closes {
        match link.request(&last, |_: &Acknowledge| true, |_| {}, within(Duration::from_secs(4))) {
            Err(ClientError::Transport(_)) => words.push("closed".to_owned()),
            outcome => drop(outcome?),
        }
    } else {
        link.send(&last)?;
    }
    println!("{}", words.join(", "));
    Ok(())
}
