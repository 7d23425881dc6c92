//! A robot and its operator, talking over TCP on this machine.

#[path = "../generated/mod.rs"]
mod messages;
mod operator;
mod robot;

use fw_structframe::transport::TcpTransport;
use fw_structframe::{Client, Framing, Profile};
use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::thread;

/// How both sides frame their messages.
const FRAMING: Framing = Profile::Standard.framing();

/// A client over TCP. Its buffers hold two frames of the longest kind.
type Link = Client<TcpTransport, [fw_structframe::MessageInfo; 5], [u8; 1024]>;

fn link(stream: TcpStream) -> Result<Link, Box<dyn Error>> {
    Ok(Client::new(
        TcpTransport::new(stream)?,
        FRAMING,
        messages::MESSAGES,
        [[0; 1024]; 3],
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let robot = thread::spawn(move || {
        let (stream, _) = listener.accept().map_err(|error| error.to_string())?;
        robot::run(link(stream).map_err(|error| error.to_string())?)
    });
    operator::run(link(TcpStream::connect(address)?)?)?;
    robot.join().expect("the robot does not panic")?;
    Ok(())
}
