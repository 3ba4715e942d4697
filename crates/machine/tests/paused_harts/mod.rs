//! Slices with pauses.
use flick_hart::{Begin, Part, Processor};
use flick_machine::{Board, Watch};

/// Pauses every hart after so many steps.
pub struct Often(pub u64);

impl Watch for Often {
    fn execute(
        &mut self,
        _: usize,
        processor: &mut Processor<Board>,
        begin: Option<Begin>,
    ) -> Part {
        if let Some(begin) = begin {
            processor.begin(begin);
        }
        processor.go_on(processor.steps() + self.0)
    }
}
