//! The robot: telemetry out, commands in, an answer to each.

use crate::messages::robot::{Acknowledge, Command, CommandOrder, Mode, Telemetry, Vector3};
use crate::{FRAMING, Link};
use fw_structframe::{Bounded, Message, Text, read_message};
use std::time::{Duration, Instant};

/// Runs until the operator hangs up.
pub fn run(mut link: Link) -> Result<(), String> {
    let start = Instant::now();
    let mut telemetry = Telemetry {
        wheel_speed: [0.5; 4],
        ..Telemetry::default()
    };
    for tick in 0.. {
        telemetry.time_us = start.elapsed().as_micros() as u64;
        telemetry.ranges_mm =
            Bounded::from_slice(&[400 + 10 * tick, 900]).map_err(|error| error.to_string())?;
        if link.send(&telemetry).is_err() {
            return Ok(());
        }
        telemetry.battery_volts -= 0.1;
        while start.elapsed() < Duration::from_millis(100) * (u32::from(tick) + 1) {
            let mut commands = Vec::new();
            let received = link.poll(|frame| {
                if frame.id == Command::MSG_ID {
                    commands.extend(read_message::<Command>(FRAMING, frame));
                }
            });
            if received.is_err() {
                return Ok(());
            }
            for command in commands {
                if link.send(&obey(&command, &mut telemetry)).is_err() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

fn obey(command: &Command, telemetry: &mut Telemetry) -> Acknowledge {
    let note = match &command.order {
        CommandOrder::GoTo(order) => {
            telemetry.mode = Mode::AUTOMATIC;
            let metres = distance(&telemetry.position, &order.target);
            Ok(format!("{metres:.1} m, {:.0} s", metres / order.speed))
        }
        CommandOrder::Halt(order) => {
            telemetry.mode = Mode::IDLE;
            Ok(format!("stopped: {}", order.reason))
        }
        CommandOrder::Unset => Err("nothing to do".to_owned()),
        CommandOrder::Unknown { tag, .. } => Err(format!("order {tag} is not known here")),
    };
    let (accepted, note) = match note {
        Ok(note) => (true, note),
        Err(note) => (false, note),
    };
    let note = Text::new(&note).unwrap_or(Text::literal("done"));
    Acknowledge {
        sequence: command.sequence,
        accepted,
        note,
        log: Bounded::default(),
    }
}

fn distance(from: &Vector3, to: &Vector3) -> f32 {
    [to.x - from.x, to.y - from.y, to.z - from.z]
        .iter()
        .map(|along| along * along)
        .sum::<f32>()
        .sqrt()
}
