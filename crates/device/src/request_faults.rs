//! Faults that a device's next requests have on purpose.
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::device::Time;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// No machine runs for so long.
const LONGEST: Time = 1 << 60;

/// The faults of the next requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestFaults {
    next: VecDeque<(RequestFault, u64)>,
    /// Until then the device sees no request.
    held: Option<Time>,
    /// The next request has waited, which was its fault.
    has_waited: bool,
}

impl RequestFaults {
    /// So many requests have this fault, behind those that have one already.
    pub fn add(&mut self, fault: RequestFault, requests: u64) {
        self.next.push_back((fault, requests));
    }

    /// The fault of the next request.
    pub(crate) fn take(&mut self) -> Option<RequestFault> {
        if std::mem::take(&mut self.has_waited) {
            return None;
        }
        let (fault, left) = self.next.front_mut()?;
        let fault = *fault;
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.next.pop_front();
        }
        Some(fault)
    }

    /// Could a device have these, which come from a snapshot?
    pub(crate) fn are_possible(&self) -> bool {
        let is_short = |(fault, _): &(RequestFault, u64)| match fault {
            RequestFault::Delay(by) => *by < LONGEST,
            _ => true,
        };
        self.next.iter().all(is_short) && self.held.is_none_or(|until| until < LONGEST)
    }

    pub(crate) fn hold(&mut self, until: Time) {
        self.held = Some(until);
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Until when requests wait; `None`: they do not, or not any more.
    pub(crate) fn held_until(&mut self, now: Time) -> Option<Time> {
        let is_over = self.held.is_some_and(|until| until <= now);
        self.has_waited |= is_over;
        self.held = self.held.filter(|_| !is_over);
        self.held
    }
}
