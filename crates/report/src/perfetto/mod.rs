//! A trace for Perfetto (https://ui.perfetto.dev): two tracks for each thread, one a side, with a
//! slice for each function that was crossed to and one for each crossing, in its parts; arrows
//! where a thread leaves one track for the other, wakes another thread, or sends a message; a track for each counter.
//!
//! Perfetto's clock has nanoseconds. Slices begin and end at whole ones, rounded down, so that they
//! still nest; the picoseconds of a crossing are among its arguments.
mod message_arrows;
mod proto;
mod tracks;
mod wake_ups;
mod writer;

use std::io::{self, Write};

use flick_events::trace::Trace;
use flick_names::Demangle;

/// Writes `trace` in Perfetto's format.
pub fn write(trace: &Trace<'_>, demangle: Demangle, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = writer::Writer::new(out, demangle);
    for process in &trace.processes {
        tracks::process(process, &mut writer)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
