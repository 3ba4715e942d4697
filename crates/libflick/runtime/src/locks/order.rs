//! The mutexes that `fork` takes, in the order in which one may be taken under another.
use super::fork_mutex::ForkMutex;

/// Guards what the statistics know beside their counters.
pub(crate) static STATISTICS: ForkMutex = ForkMutex::new();
/// Guards the list of data ranges against other writers; readers take no lock.
pub(crate) static DATA_RANGES: ForkMutex = ForkMutex::new();
/// Guards the table of overaligned blocks.
pub(crate) static OVERALIGNED: ForkMutex = ForkMutex::new();
/// Guards the boundary between heap and stacks in the region.
pub(crate) static BOUNDARY: ForkMutex = ForkMutex::new();

/// All of them: `fork` takes them in this order and releases them on both sides, so that the child
/// never finds one held by a thread that it does not have.
pub(crate) static ALL: [&ForkMutex; 4] = [&STATISTICS, &DATA_RANGES, &OVERALIGNED, &BOUNDARY];
