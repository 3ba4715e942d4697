//! A machine that starts again at its reset. Memory and harts are as they were at the first start, and
//! devices as they are after a reset: a disk keeps what was written. Virtual time goes on.
use flick_hart::SavedProcessor;

use super::Machine;
use crate::board;
use crate::snapshot::MemoryPages;

/// The machine at its reset.
pub struct AtReset {
    memory: MemoryPages,
    harts: Vec<SavedProcessor>,
    is_timed: bool,
}

impl Machine<'_> {
    /// From now on a reset brings the machine back to what it is now, in front of its first
    /// instruction, instead of ending it.
    pub fn restart_at_reset(&mut self) {
        let is_timed = self.is_timed;
        self.set_mode(false);
        let harts = self.harts.iter().map(|unit| unit.processor.save());
        self.at_reset = Some(Box::new(AtReset {
            memory: MemoryPages::take(self.memories(), None),
            harts: harts.collect(),
            is_timed,
        }));
        self.set_mode(is_timed);
    }

    /// Starts again. False: the machine has not been told where.
    pub(super) fn restart(&mut self) -> bool {
        let Some(at_reset) = self.at_reset.take() else {
            return false;
        };
        let latest = self.harts.iter().map(|unit| unit.time).max();
        let now = latest.unwrap_or(0).max(self.wiring.now());
        self.set_mode(false);
        self.order = None;
        at_reset.memory.put(self.memories());
        self.trace_tiles();
        board::reset(self.boards, now);
        for (unit, hart) in self.harts.iter_mut().zip(&at_reset.harts) {
            // The state is of this hart.
            let reset = unit.processor.reset(hart);
            debug_assert!(reset.is_ok(), "{reset:?}");
            (unit.time, unit.waits, unit.is_stopped) = (now, false, false);
            unit.is_lent = false;
        }
        self.restart_calls();
        if let Some(view) = &mut self.kernel_view {
            view.restart(&mut self.trace);
        }
        self.begin_tile_trace();
        self.wiring.restart_promises(false);
        self.set_mode(at_reset.is_timed);
        self.at_reset = Some(at_reset);
        true
    }
}
