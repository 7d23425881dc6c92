//! The operator: looks on, sends two commands, waits for the answer to each.

use crate::messages::robot::{
    Acknowledge, Command, CommandOrder, GoTo, Halt, Telemetry, TelemetryView, Vector3,
};
use crate::{FRAMING, Link};
use fw_structframe::transport::within;
use fw_structframe::{Frame, Message, Text};
use std::error::Error;
use std::time::Duration;

/// Runs for half a second or so.
pub fn run(mut link: Link) -> Result<(), Box<dyn Error>> {
    look_on(&mut link, 3)?;
    let target = Vector3 {
        x: 3.0,
        y: 4.0,
        z: 0.0,
    };
    let answer = command(
        &mut link,
        1,
        GoTo {
            target,
            ..GoTo::default()
        },
    )?;
    println!("go to (3, 4, 0): {answer}");
    look_on(&mut link, 2)?;
    let answer = command(
        &mut link,
        2,
        Halt {
            reason: Text::literal("tea time"),
        },
    )?;
    println!("halt: {answer}");
    Ok(())
}

fn look_on(link: &mut Link, mut frames: usize) -> Result<(), Box<dyn Error>> {
    while frames > 0 {
        frames -= link.poll(show)?.min(frames);
    }
    Ok(())
}

/// Reads only what it shows, straight from the payload.
fn show(frame: &Frame<'_>) {
    if frame.id != Telemetry::MSG_ID {
        return;
    }
    match TelemetryView::read(FRAMING.layout(), frame.payload) {
        Ok(telemetry) => println!(
            "telemetry at {:.1} s: {:?}, {:.1} V, nearest {} mm",
            telemetry.time_us() as f64 / 1e6,
            telemetry.mode(),
            telemetry.battery_volts(),
            telemetry.ranges_mm().iter().min().unwrap_or_default()
        ),
        Err(error) => println!("telemetry: {error}"),
    }
}

fn command(
    link: &mut Link,
    sequence: u32,
    order: impl Into<CommandOrder>,
) -> Result<String, Box<dyn Error>> {
    let command = Command {
        sequence,
        order: order.into(),
    };
    let mine = |answer: &Acknowledge| answer.sequence == sequence;
    let answer: Acknowledge = link.request(&command, mine, show, within(Duration::from_secs(2)))?;
    Ok(format!(
        "{}, {:?}",
        if answer.accepted {
            "accepted"
        } else {
            "refused"
        },
        answer.note
    ))
}
