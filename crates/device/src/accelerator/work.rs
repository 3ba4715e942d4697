//! What an accelerator does over time: its states, and how long it was in each, for reports and traces.
use serde::{Deserialize, Serialize};

use crate::device::Time;

/// What a module does. While the logic computes beside it, its state has another name ([`Doing::name`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub(super) enum ModuleState {
    /// No activity has begun.
    #[default]
    Idle,
    /// It has nothing to do but to wait for the logic.
    Rests,
    /// Sends, fetches or acknowledges messages.
    Asks,
    Reads,
    Writes,
    WaitsForInput,
    WaitsForOutput,
    /// A kernel has stopped it.
    Stopped,
    Ended,
    Failed,
}

/// What module and logic do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Doing {
    pub computes: bool,
    pub module: ModuleState,
}

impl Doing {
    /// In traces.
    pub fn name(self) -> &'static str {
        match (self.computes, self.module) {
            (true, ModuleState::Asks) => "computes, asks",
            (true, ModuleState::Reads) => "computes, reads",
            (true, ModuleState::Writes) => "computes, writes",
            (true, _) => "computes",
            (false, ModuleState::Asks) => "asks",
            (false, ModuleState::Reads) => "reads",
            (false, ModuleState::Writes) => "writes",
            (false, ModuleState::WaitsForInput) => "waits for input",
            (false, ModuleState::WaitsForOutput) => "waits for output",
            (false, ModuleState::Stopped) => "stopped",
            (false, ModuleState::Ended) => "ended",
            (false, ModuleState::Failed) => "failed",
            (false, ModuleState::Idle | ModuleState::Rests) => "idle",
        }
    }
}

/// What an accelerator has done since the machine's reset. Each moment of an activity that runs is in one of the
/// times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Work {
    doing: Doing,
    since: Time,
    /// Blocks with input that the logic has computed.
    pub blocks: u64,
    /// Bytes of input and of output.
    pub read: u64,
    /// See `read`.
    pub written: u64,
    /// Messages.
    pub sent: u64,
    /// See `sent`.
    pub received: u64,
    /// The tile to which requests for output go.
    pub next: Option<u16>,
    /// The logic computes, whatever else the module does.
    pub computes: Time,
    /// Data is read or written, and the logic stands still. It does in the following times, too.
    pub moves: Time,
    /// Commands for messages.
    pub asks: Time,
    /// For another one to send or grant input.
    pub waits_for_input: Time,
    /// For room for output.
    pub waits_for_output: Time,
}

impl Work {
    /// From a time on it does this. True: it did something else before.
    pub(super) fn does(&mut self, doing: Doing, now: Time) -> bool {
        if doing == self.doing {
            return false;
        }
        *self = Self {
            doing,
            ..self.until(now)
        };
        true
    }

    /// With what it does now up to a time.
    pub fn until(mut self, now: Time) -> Self {
        let passed = now.saturating_sub(std::mem::replace(&mut self.since, now));
        let time = match self.doing {
            Doing { computes: true, .. } => &mut self.computes,
            Doing { module, .. } => match module {
                ModuleState::Reads | ModuleState::Writes => &mut self.moves,
                ModuleState::Asks | ModuleState::Rests => &mut self.asks,
                ModuleState::WaitsForInput => &mut self.waits_for_input,
                ModuleState::WaitsForOutput => &mut self.waits_for_output,
                ModuleState::Idle
                | ModuleState::Stopped
                | ModuleState::Ended
                | ModuleState::Failed => return self,
            },
        };
        *time = time.saturating_add(passed);
        self
    }

    /// How long an activity has run.
    pub fn runs(&self) -> Time {
        let waits = self.waits_for_input.saturating_add(self.waits_for_output);
        let rest = self.moves.saturating_add(self.asks);
        self.computes.saturating_add(rest).saturating_add(waits)
    }

    /// The name of what it does, in traces.
    pub fn state(&self) -> &'static str {
        self.doing.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_their_names() {
        use ModuleState::*;
        let modules = [
            Idle,
            Rests,
            Asks,
            Reads,
            Writes,
            WaitsForInput,
            WaitsForOutput,
            Stopped,
            Ended,
            Failed,
        ];
        let names: Vec<_> = [false, true]
            .into_iter()
            .flat_map(|computes| modules.map(|module| Doing { computes, module }.name()))
            .collect();
        let known = flick_abi::accelerator::STATE_NAMES;
        assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
        assert!(known.iter().all(|name| names.contains(name)), "{names:?}");
    }

    #[test]
    fn each_time_is_counted_once() {
        let module = |module| Doing {
            computes: false,
            module,
        };
        let computes = Doing {
            computes: true,
            module: ModuleState::Reads,
        };
        let mut work = Work::default();
        assert!(!work.does(Doing::default(), 5));
        assert!(work.does(module(ModuleState::Asks), 10));
        assert!(work.does(module(ModuleState::WaitsForInput), 13));
        assert!(work.does(module(ModuleState::Reads), 20));
        assert!(work.does(computes, 21));
        assert!(!work.does(computes, 30));
        assert!(work.does(module(ModuleState::Stopped), 41));
        assert!(work.does(module(ModuleState::WaitsForOutput), 1000));
        assert_eq!((work.asks, work.waits_for_input, work.moves), (3, 7, 1));
        assert_eq!((work.computes, work.waits_for_output), (20, 0));
        assert_eq!((work.until(1002).runs(), work.runs()), (33, 31));
        assert_eq!(work.state(), "waits for output");
    }
}
