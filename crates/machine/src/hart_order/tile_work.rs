//! What tiles without harts do: their accelerators' work, and what a trace has of tiles.
use flick_device::accelerator::Work;

use flick_device::dtu::PromiseCounts;

use super::Machine;
use crate::board;

impl Machine<'_> {
    /// Tiles with accelerators, and what these have done.
    pub fn accelerators(&self) -> Vec<(usize, Work)> {
        let all = self.boards.iter().enumerate();
        all.filter_map(|(tile, board)| Some((tile, board.work()?)))
            .collect()
    }

    /// Looks at what the units of tiles promise from now on (`docs/dtu.md`).
    pub fn watch_promises(&mut self) {
        self.wiring.watch_promises();
    }

    /// What was looked at, and the first promises that were broken. `None`: nobody has looked.
    pub fn end_promises(&mut self) -> Option<(PromiseCounts, Vec<String>)> {
        board::end_promises(self.boards);
        self.wiring.promises()
    }

    /// The trace has states and messages of tiles from now on, if an accelerator is among them.
    pub(super) fn begin_tile_trace(&mut self) {
        let all = self.accelerators();
        let Some(trace) = self.trace.as_mut().filter(|_| !all.is_empty()) else {
            return;
        };
        self.wiring.log_tiles();
        for (tile, work) in all {
            trace.tile_state(tile, self.wiring.now(), work.state());
        }
    }

    /// Accelerators are elsewhere: the machine starts again, or goes on from a snapshot.
    pub(super) fn restart_tile_trace(&mut self) {
        self.wiring.forget_tile_events();
        if let Some(trace) = &mut self.trace {
            trace.forget_tiles();
        }
        self.begin_tile_trace();
    }

    /// The trace gets what tiles have done.
    pub(super) fn trace_tiles(&mut self) {
        if let Some(trace) = &mut self.trace {
            let events = self.wiring.take_tile_events();
            events.into_iter().for_each(|event| trace.tile_event(event));
        }
    }
}
