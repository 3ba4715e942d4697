//! Page 1 and those behind it: the registers for the tile's kernel.
use flick_abi::dtu::{self, Invalidation};

use super::{Dtu, bits};
use crate::device::Surroundings;

/// A register of the pages for the kernel.
#[derive(Clone, Copy)]
pub(super) enum KernelRegister {
    Abort,
    Enable,
    Waiting,
    WaitingInterrupt,
    Timeout,
    Current(usize),
    WindowBase(usize),
    WindowSize(usize),
    Endpoint(u16, usize),
}

impl KernelRegister {
    pub(super) fn is_of_endpoint(self) -> bool {
        matches!(self, Self::Endpoint(..))
    }
}

impl Dtu {
    pub(super) fn read_kernel_page(&self, register: KernelRegister) -> u64 {
        let state = &self.state;
        match register {
            KernelRegister::Abort => self.aborts().into(),
            KernelRegister::Enable => state.enable,
            KernelRegister::Waiting => self.waiting(),
            KernelRegister::WaitingInterrupt => state.waiting_interrupt,
            KernelRegister::Timeout => state.timeout,
            KernelRegister::Current(bank) => state.banks[bank].current.into(),
            KernelRegister::WindowBase(bank) => state.banks[bank].window_base,
            KernelRegister::WindowSize(bank) => state.banks[bank].window_size,
            KernelRegister::Endpoint(number, word) => {
                state.endpoints[usize::from(number)].word(word)
            }
        }
    }

    pub(super) fn write_kernel_page(
        &mut self,
        register: KernelRegister,
        value: u64,
        around: &mut dyn Surroundings,
    ) {
        let banks = self.state.banks.len();
        let state = &mut self.state;
        match register {
            KernelRegister::Abort => match usize::try_from(value) {
                Ok(bank) if bank < banks => self.abort(bank, around),
                _ => {}
            },
            KernelRegister::Enable => state.enable = value & bits(banks),
            KernelRegister::Waiting => {}
            KernelRegister::WaitingInterrupt => state.waiting_interrupt = value,
            KernelRegister::Timeout => state.timeout = value,
            KernelRegister::Current(bank) => state.banks[bank].current = value as u16,
            KernelRegister::WindowBase(bank) => state.banks[bank].window_base = value,
            KernelRegister::WindowSize(bank) => state.banks[bank].window_size = value,
            KernelRegister::Endpoint(number, word) => {
                let slots = self.description.slots;
                state.endpoints[usize::from(number)].write_word(word, value, number, slots);
                if word == 0 {
                    state.pages.remove(Invalidation {
                        endpoint: number as u8,
                        page: None,
                    });
                }
                self.look_at(number);
            }
        }
    }

    /// The register of the kernel at an offset.
    pub(super) fn kernel_register(&self, offset: u64) -> Option<KernelRegister> {
        let banks = self.state.banks.len();
        let bank = |first: u64, step: u64| {
            let bank = usize::try_from(offset.checked_sub(first)? / step).ok()?;
            (bank < banks).then_some(bank)
        };
        Some(match offset {
            dtu::ABORT => KernelRegister::Abort,
            dtu::ENABLE => KernelRegister::Enable,
            dtu::WAITING => KernelRegister::Waiting,
            dtu::WAITING_INTERRUPT => KernelRegister::WaitingInterrupt,
            dtu::TIMEOUT => KernelRegister::Timeout,
            _ if offset >= dtu::endpoint_word(0, 0) => {
                let number = (offset - dtu::endpoint_word(0, 0)) / 32;
                let number = u16::try_from(number).ok()?;
                let exists = number < self.description.endpoints;
                let word = (offset / 8 % 4) as usize;
                return exists.then_some(KernelRegister::Endpoint(number, word));
            }
            _ if offset >= dtu::window_base(0) => match offset & 8 {
                0 => KernelRegister::WindowBase(bank(dtu::window_base(0), 16)?),
                _ => KernelRegister::WindowSize(bank(dtu::window_base(0), 16)?),
            },
            _ => KernelRegister::Current(bank(dtu::current(0), 8)?),
        })
    }
}
