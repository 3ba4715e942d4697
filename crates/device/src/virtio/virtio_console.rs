//! The console (Virtio 1.2, chapter 5.3): one port, without the features of size and of several
//! ports.
use super::split_queue::{QueueFault, SplitQueue};
use super::virtio_device::VirtioDevice;
use crate::device::{BadState, Surroundings, load_state, save_state};

const RECEIVE: usize = 0;
const QUEUE: u16 = 64;
/// The feature of output before any queue is set up.
const EMERGENCY_WRITE: u64 = 1 << 2;
/// Its field of the configuration space.
const EMERGENCY: u64 = 8;
/// The longest chain to print. Drivers print lines; without a bound, one buffer that a chain
/// repeats would keep the machine busy for hours.
const MAX_OUTPUT: u64 = 1 << 20;
const PIECE: u64 = 4096;

/// A console. Input waits outside until the driver has given buffers for it
/// ([`Surroundings::input_ready`]).
#[derive(Clone, Debug, Default)]
pub struct VirtioConsole;

impl VirtioDevice for VirtioConsole {
    fn id(&self) -> u32 {
        3
    }

    fn features(&self) -> u64 {
        EMERGENCY_WRITE
    }

    fn queue_sizes(&self) -> &'static [u16] {
        &[QUEUE, QUEUE]
    }

    /// Without their features the fields have no value.
    fn read_config(&self, _offset: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn write_config(&mut self, offset: u64, bytes: &[u8], around: &mut dyn Surroundings) {
        if offset == EMERGENCY {
            around.output(&bytes[..bytes.len().min(1)]);
        }
    }

    fn process(
        &mut self,
        queue: usize,
        ring: &mut SplitQueue,
        around: &mut dyn Surroundings,
    ) -> Result<(), QueueFault> {
        let waiting = ring.waiting(around)?;
        if queue == RECEIVE {
            if waiting > 0 {
                around.input_ready();
            }
            return Ok(());
        }
        for _ in 0..waiting {
            let chain = ring.take(around)?;
            let length = chain.readable.len();
            if length > MAX_OUTPUT {
                return Err(QueueFault::TooLong);
            }
            let mut buffer = [0; PIECE as usize];
            for start in (0..length).step_by(PIECE as usize) {
                let piece = &mut buffer[..(length - start).min(PIECE) as usize];
                chain.readable.read(start, piece, around)?;
                around.output(piece);
            }
            ring.give_back(&chain, 0, around)?;
        }
        Ok(())
    }

    fn input(
        &mut self,
        bytes: &[u8],
        rings: &mut [SplitQueue],
        around: &mut dyn Surroundings,
    ) -> Result<usize, QueueFault> {
        let mut taken = 0;
        if let Some(ring) = rings.get_mut(RECEIVE).filter(|ring| ring.ready) {
            for _ in 0..ring.waiting(around)? {
                let left = &bytes[taken..];
                if left.is_empty() {
                    break;
                }
                let chain = ring.take(around)?;
                let room = usize::try_from(chain.writable.len()).unwrap_or(usize::MAX);
                let part = &left[..left.len().min(room)];
                chain.writable.write(0, part, around)?;
                ring.give_back(&chain, part.len() as u64, around)?;
                taken += part.len();
            }
            ring.ask_for_notification(around)?;
        }
        Ok(taken)
    }

    fn save(&self) -> Vec<u8> {
        // All that can change is in the queues.
        save_state(&())
    }

    fn load(&mut self, state: &[u8]) -> Result<(), BadState> {
        load_state("virtio console", state)
    }
}

#[cfg(test)]
mod tests;
