//! Activities of accelerators of requests: their endpoints, their begin, and their end. Such a tile has one at a time.
use flick_abi::accelerator::{
    CONTROL, Control, LOG2_STEPS_SLOT, PAGED, PAGER, PAGES, REQUESTS, STEPS_BUFFER, STEPS_SLOTS,
};
use flick_abi::dtu::{self, ACCELERATOR_REGISTERS, Endpoint, PagesEndpoint, ReceiveEndpoint};

use super::remote::NoAnswer;
use crate::dtu::Unit;

/// Endpoints of memory in which pages are.
const PAGED_ENDPOINTS: u16 = 5;
/// Endpoints of an accelerator that the module uses.
pub const ENDPOINTS: usize = (PAGED + PAGED_ENDPOINTS) as usize;

/// Endpoints that programs may set up, and whether they are for memory.
pub fn wants_memory(endpoint: u64) -> Option<bool> {
    const FIRST: u64 = PAGED as u64;
    const LAST: u64 = ENDPOINTS as u64 - 1;
    match endpoint {
        FIRST..=LAST => Some(true),
        pager if pager == PAGER.into() => Some(false),
        _ => None,
    }
}

/// The endpoints that an activity has from its begin on: requests, and pages, of which there are none before a
/// program has set the pager up.
pub fn endpoints(activity: u16) -> [(u16, Endpoint); 2] {
    let requests = ReceiveEndpoint::new(activity, STEPS_BUFFER, LOG2_STEPS_SLOT, STEPS_SLOTS);
    let pages = PagesEndpoint::new(activity, PAGER);
    [
        (REQUESTS, Endpoint::Receive(requests)),
        (PAGES, Endpoint::Pages(pages)),
    ]
}

impl Unit {
    /// The module of a tile begins with an activity, whose endpoints are set up.
    pub fn begin_requests(&self, tile: u16, activity: u16) -> Result<(), NoAnswer> {
        self.write_registers(tile, dtu::current(0), &[activity.into()])?;
        // The bank may have been taken from the last activity.
        self.write_registers(tile, dtu::ENABLE, &[1])?;
        let start = [Control::Start as u64];
        self.write_registers(tile, ACCELERATOR_REGISTERS + CONTROL, &start)
    }

    /// The module's activity ends, which may wait for its pager.
    pub fn end_requests(&self, tile: u16) -> Result<(), NoAnswer> {
        let end = [Control::End as u64];
        self.write_registers(tile, ACCELERATOR_REGISTERS + CONTROL, &end)?;
        self.write_registers(tile, dtu::ABORT, &[0])
    }
}
