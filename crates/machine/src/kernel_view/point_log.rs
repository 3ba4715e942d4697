//! The points that harts come to, one a line, in the order of virtual time: for tests that compare what
//! the kernel does with models.
use std::io::{self, Write};

use flick_device::Time;

use super::kernel_points::PointKind;

/// Writes a line for each point: time in picoseconds, hart, name, values and a7.
pub struct PointLog {
    file: Box<dyn Write>,
    failed: Option<io::Error>,
}

impl PointLog {
    /// Writes to a file.
    pub fn new(file: Box<dyn Write>) -> Self {
        Self { file, failed: None }
    }

    /// A hart comes to a point.
    pub(super) fn point(
        &mut self,
        (hart, time): (usize, Time),
        (kind, [first, second]): (PointKind, [u64; 2]),
        call: u64,
    ) {
        if self.failed.is_none() {
            let name = kind.name();
            self.failed = writeln!(
                self.file,
                "{time} {hart} {name} {first:#x} {second:#x} {call:#x}"
            )
            .err();
        }
    }

    /// All is written.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)?;
        self.file.flush()
    }
}
