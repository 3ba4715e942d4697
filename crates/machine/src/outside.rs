//! What comes from outside: the only thing that may make two runs of a machine unequal. It is asked for at
//! moments that depend on the machine alone, which are numbered. So input that is given again at the
//! same moments gives the same run.
use flick_device::Time;
use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::hart_order::Console;

/// Bytes that a device has taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// How often the outside had been asked, this time included.
    pub moment: u64,
    /// The virtual time.
    pub time: Time,
    /// The device's number; [`PROGRAM`]: it is an answer to a program's call.
    pub device: u32,
    /// What it has taken.
    pub bytes: Vec<u8>,
}

/// In place of a device's number.
pub const PROGRAM: u32 = u32::MAX;

/// Input that was, and input that comes.
#[derive(Default)]
pub struct Outside<'m> {
    /// How often the outside was asked.
    pub(crate) moments: u64,
    /// Input by its moments. Up to the moment `known` the machine gets this alone.
    log: Vec<Input>,
    /// The first of `log` that has not come yet.
    next: usize,
    known: u64,
    keeps: bool,
    sink: Option<Sink<'m>>,
    diverged: bool,
}

/// Is told of all input from outside.
type Sink<'m> = Box<dyn FnMut(&Input) + 'm>;

impl<'m> Outside<'m> {
    /// `sink` is told of all input.
    pub fn record(&mut self, sink: impl FnMut(&Input) + 'm) {
        self.sink = Some(Box::new(sink));
    }

    /// From now on input is kept, for [`Self::go_back`].
    pub fn keep(&mut self) {
        self.keeps = true;
        self.known = self.known.max(self.moments);
    }

    /// The machine gets this input and no other.
    pub fn replay(&mut self, log: Vec<Input>) {
        self.log = log;
        self.known = u64::MAX;
        self.find();
    }

    /// How often the outside was asked.
    pub fn moments(&self) -> u64 {
        self.moments
    }

    /// Does all that happens now happen again?
    pub fn is_known(&self) -> bool {
        self.moments < self.known
    }

    /// The run is no run of which the input was recorded.
    pub fn has_diverged(&self) -> bool {
        self.diverged
    }

    /// What was to come has not happened: the machine was changed.
    pub fn forget_future(&mut self) {
        if self.known != u64::MAX {
            self.log.truncate(self.next);
            self.known = self.moments;
        }
    }

    /// The machine is where the outside had been asked so often.
    pub(crate) fn go_to(&mut self, moments: u64) {
        self.moments = moments;
        self.find();
    }

    fn find(&mut self) {
        let now = self.moments;
        self.next = self.log.partition_point(|input| input.moment <= now);
    }

    /// Asks for input. `waits`: nothing else will happen. Was there some?
    pub(crate) fn ask(
        &mut self,
        board: &Board,
        console: &mut dyn Console,
        time: Time,
        waits: bool,
    ) -> bool {
        self.moments += 1;
        if self.moments <= self.known {
            return self.give_again(board, time);
        }
        let given = match waits {
            true => console.wait(board, time),
            false => console.poll(board, time),
        };
        for (device, bytes) in board.take_inputs() {
            self.note(Input {
                moment: self.moments,
                time,
                device: device as u32,
                bytes,
            });
        }
        if self.keeps {
            self.known = self.moments;
        }
        given
    }

    /// A program asks the outside itself, and `live` is what the outside says. `None`: it is no run of
    /// which the input was recorded.
    pub(crate) fn answer(&mut self, time: Time, live: impl FnOnce() -> Vec<u8>) -> Option<Vec<u8>> {
        self.moments += 1;
        let moment = self.moments;
        if moment <= self.known {
            let input = self.log.get(self.next);
            let input = input.filter(|input| input.moment == moment && input.device == PROGRAM);
            let answer = input.filter(|input| input.time == time);
            let bytes = answer.map(|input| input.bytes.clone());
            self.next += usize::from(bytes.is_some());
            self.diverged |= bytes.is_none();
            return bytes;
        }
        let bytes = live();
        self.note(Input {
            moment,
            time,
            device: PROGRAM,
            bytes: bytes.clone(),
        });
        Some(bytes)
    }

    /// What the outside has said is no answer to what the program asks.
    pub(crate) fn diverge(&mut self) {
        self.diverged = true;
    }

    /// Input has come at this moment.
    fn note(&mut self, input: Input) {
        if let Some(sink) = &mut self.sink {
            sink(&input);
        }
        if self.keeps {
            self.known = input.moment;
            self.log.push(input);
            self.next = self.log.len();
        }
    }

    fn give_again(&mut self, board: &Board, time: Time) -> bool {
        let mut given = false;
        while let Some(input) = self.log.get(self.next) {
            if input.moment != self.moments {
                break;
            }
            self.next += 1;
            let device = input.device as usize;
            let taken = match board.has_device(device) {
                true => board.input(device, &input.bytes, time),
                false => 0,
            };
            self.diverged |= input.time != time || taken != input.bytes.len();
            given = true;
        }
        board.take_inputs();
        given
    }
}
