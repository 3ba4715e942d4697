//! The profile of a timed run (`FLICK_PROFILE=functions`): for each function what it takes on
//! either side, and who has called whom how often. From it `flick advise` proposes a placement
//! (`docs/timing.md`, "Advice").
//!
//! Host code records every call and return and every access, where in other runs it only
//! counts: the clock is never negative, and all of the map is marked. What its accesses would take
//! on the NxP is modelled beside, with caches of its own, so that the run's own times stay as they
//! are.
pub mod account;
pub mod crossings;
pub mod functions;
pub mod host_calls;
pub mod residency;
pub mod results;
mod shadow_stack;
