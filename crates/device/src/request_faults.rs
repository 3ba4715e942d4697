//! Faults that a device's next requests have on purpose.
use std::collections::VecDeque;

use crate::device::Time;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// It is never answered.
    Drop,
    /// The device sees it later.
    Delay(Time),
    /// The device does it twice.
    Repeat,
    /// Its status is an error.
    Fail,
}

/// The faults of the next requests.
#[derive(Clone, Debug, Default)]
pub struct RequestFaults {
    next: VecDeque<(RequestFault, u64)>,
    /// Until then the device sees no request.
    held: Option<Time>,
}

impl RequestFaults {
    /// So many requests have this fault, behind those that have one already.
    pub fn add(&mut self, fault: RequestFault, requests: u64) {
        self.next.push_back((fault, requests));
    }

    /// The fault of the next request.
    pub(crate) fn take(&mut self) -> Option<RequestFault> {
        let (fault, left) = self.next.front_mut()?;
        let fault = *fault;
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.next.pop_front();
        }
        Some(fault)
    }

    pub(crate) fn hold(&mut self, until: Time) {
        self.held = Some(until);
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Until when requests wait; `None`: they do not, or not any more.
    pub(crate) fn held_until(&mut self, now: Time) -> Option<Time> {
        self.held = self.held.filter(|&until| until > now);
        self.held
    }
}
