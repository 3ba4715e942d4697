//! Runs whose machine looks at the card's kernel ([`crate::kernel_view`]).
use flick_device::Time;
use flick_hart::{Begin, Part, Processor};

use super::{Console, Machine, Turn, Unwatched, Watch};
use crate::board::Board;
use crate::kernel_view::{CallCounts, KernelPoint, KernelView, PointLog, PointWatch, Seen};

impl Watch for PointWatch {
    fn execute(
        &mut self,
        hart: usize,
        processor: &mut Processor<Board>,
        begin: Option<Begin>,
    ) -> Part {
        if let Some(begin) = begin {
            processor.begin(begin);
        }
        self.execute_slice(hart, processor)
    }

    fn take_seen(&mut self) -> Option<Vec<(u64, Seen)>> {
        Some(self.take())
    }
}

impl Machine<'_> {
    /// A turn that nobody watches but the view of the kernel, if there is one.
    pub(super) fn turn_alone(&mut self, console: &mut dyn Console) -> Turn {
        let Some(mut watch) = self.point_watch.take() else {
            return self.turn(console, &mut Unwatched);
        };
        let turn = self.turn(console, &mut *watch);
        if self
            .kernel_view
            .as_mut()
            .is_some_and(|view| view.take_restart())
        {
            watch.restart();
        }
        self.point_watch = Some(watch);
        if let (Turn::Ended(_), Some(view)) = (turn, &mut self.kernel_view) {
            view.finish(&mut self.trace);
        }
        turn
    }

    /// Looks at the card's kernel, whose points are in its file: for traces, and for
    /// [`kernel_calls`](Self::kernel_calls). Its harts interpret.
    pub fn watch_kernel(&mut self, points: Vec<KernelPoint>) {
        if points.is_empty() {
            return;
        }
        self.harts
            .iter_mut()
            .for_each(|unit| unit.processor.keep_events());
        let first_harts: Vec<_> = self.boards.iter().map(|board| board.first_hart()).collect();
        self.kernel_view = Some(Box::new(KernelView::new(&first_harts, &self.names)));
        self.point_watch = Some(Box::new(PointWatch::new(points, self.harts.len())));
    }

    /// Writes the points that harts come to. [`Self::watch_kernel`] comes before.
    pub fn log_points(&mut self, log: PointLog) {
        if let Some(view) = &mut self.kernel_view {
            view.log(log);
        }
    }

    /// Ends what [`Self::log_points`] writes, and says what was wrong with its file.
    pub fn end_points(&mut self) -> std::io::Result<()> {
        let view = self.kernel_view.as_mut();
        view.map_or(Ok(()), |view| view.end_log())
    }

    /// The kernel calls of the run, after its end.
    pub fn kernel_calls(&self) -> Option<CallCounts> {
        self.kernel_view.as_ref().map(|view| view.counts())
    }

    /// Picoseconds of a hart's cycle.
    pub fn period(&self, hart: usize) -> Option<Time> {
        self.harts.get(hart).map(|unit| unit.period)
    }
}
