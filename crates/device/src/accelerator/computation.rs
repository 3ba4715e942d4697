//! The logic, as the module lets it compute: one block at a time, in one buffer or in two.
use flick_abi::accelerator::ANSWERS;
use flick_abi::card;

use super::stream::Phase;
use super::{AcceleratorTile, COMPUTED, Computed, cycles};
use crate::device::Surroundings;

impl AcceleratorTile {
    /// Where the buffer begins that the module works on.
    pub(super) fn buffer(&self) -> u64 {
        match self.description.has_two_buffers && self.module.state.stream.is_second {
            true => self.description.block,
            false => 0,
        }
    }

    /// Where the output begins that is to be written.
    pub(super) fn output(&self) -> u64 {
        let stream = &self.module.state.stream;
        match self.description.has_two_buffers && stream.is_early {
            // The buffers are the first two blocks.
            true => (self.description.block - self.buffer()).wrapping_add(stream.other_written),
            false => self.buffer().wrapping_add(stream.written),
        }
    }

    /// While no input comes: begins to write what the logic has made of the other buffer. False: there is nothing, or
    /// no room for it yet.
    pub(super) fn begin_early(&mut self, around: &mut dyn Surroundings) -> bool {
        let has_two_buffers = self.description.has_two_buffers;
        let stream = &self.module.state.stream;
        let has_output = stream.has_other && stream.other_written < stream.other;
        if !has_two_buffers || !has_output || self.module.state.computes {
            return false;
        }
        let (has_room, has_asked, phase) = (stream.output.left > 0, stream.has_asked, stream.phase);
        let next = if has_room {
            Phase::Write
        } else if !has_asked {
            Phase::AskOutput
        } else if phase == Phase::Request && self.has_message(ANSWERS, around) {
            Phase::OutputAnswer
        } else {
            return false;
        };
        self.module.state.stream.is_early = true;
        self.go_to(next);
        true
    }

    /// The time of the logic is over.
    pub(super) fn has_computed(&mut self, around: &mut dyn Surroundings) {
        if std::mem::take(&mut self.module.state.computes) {
            if !self.description.has_two_buffers {
                self.go_to(Phase::Output);
            }
            self.go_on(around);
        }
    }

    /// The logic gets the block, if there is one. With two buffers the module goes on with the other one meanwhile.
    pub(super) fn compute(&mut self, around: &mut dyn Surroundings) {
        if self.description.has_two_buffers && self.module.state.stream.drains {
            self.module.state.stream.change_buffers(None);
            return self.go_to(Phase::Output);
        }
        let Some((size, computed)) = self.run_logic(around) else {
            return self.fail(card::Error::BadAddress as u64);
        };
        let work = &mut self.module.state.work;
        work.blocks = work.blocks.saturating_add(u64::from(size != 0));
        work.read = work.read.saturating_add(size as u64);
        let time = match computed.cycles {
            Some(count) => cycles(count, self.description.cycle),
            None if size == 0 => 0,
            None => self.description.time,
        };
        self.module.state.computes = true;
        around.schedule(COMPUTED, around.now().saturating_add(time));
        let stream = &mut self.module.state.stream;
        stream.blocks = stream.blocks.wrapping_add(1);
        if self.description.has_two_buffers {
            stream.drains = stream.is_last;
            stream.change_buffers(Some(computed.size as u64));
            self.go_to(Phase::Output);
        } else {
            stream.computed = computed.size as u64;
        }
    }

    /// Makes output of the block, and says how large that was. The logic sees one block, and what is behind the
    /// blocks. `None`: there is no such memory, or no room for the output.
    fn run_logic(&mut self, around: &mut dyn Surroundings) -> Option<(usize, Computed)> {
        let mut memory = vec![0; self.description.memory as usize];
        around.read_memory(0, &mut memory).ok()?;
        let stream = &self.module.state.stream;
        let run = |memory: &mut [u8], most: usize| {
            let size = (stream.filled as usize).min(most);
            let computed = self.logic.block(memory, size, stream.is_last);
            (computed.size <= most).then_some((size, computed))
        };
        let done = if self.description.has_two_buffers {
            let (start, block) = (self.buffer() as usize, self.description.block as usize);
            let (blocks, rest) = memory.split_at_mut_checked(2 * block)?;
            let own = &mut blocks[start..start + block];
            let mut view = [&*own, &*rest].concat();
            let done = run(&mut view, block)?;
            own.copy_from_slice(&view[..block]);
            rest.copy_from_slice(&view[block..]);
            done
        } else {
            let most = memory.len();
            run(&mut memory, most)?
        };
        around.write_memory(0, &memory).ok()?;
        Some(done)
    }
}
