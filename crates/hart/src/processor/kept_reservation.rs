//! A hart's reservation between its slices, as a part of its state.
use super::Processor;
use crate::bus::Bus;

impl<B: Bus> Processor<'_, B> {
    /// The physical address of the line that the hart has reserved, and for how many slices. The hart's
    /// public registers have the virtual address.
    pub fn reservation(&self) -> Option<(u64, u32)> {
        let view = &self.core.view;
        view.reservation.saved(&view.code.reservations)
    }

    /// Makes it what [`reservation`](Self::reservation) gave.
    pub fn set_reservation(&self, saved: Option<(u64, u32)>) {
        let view = &self.core.view;
        view.reservation.restore(&view.code.reservations, saved);
    }
}
