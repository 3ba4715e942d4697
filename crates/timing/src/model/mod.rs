//! Models of the caches and the TLB between a core and its memories. They hold state and no time:
//! an access goes in, and its cost comes out. `window` and `host_core` have time, too: how long a
//! core waits that executes out of order.
pub mod block_prices;
mod host_core;
mod page_order;
mod sets;
mod streams;
mod touched_pages;
mod view;
mod window;

pub use host_core::{HostCore, LEVELS, Levels};
pub use page_order::Pages;
pub use sets::Sets;
pub use touched_pages::TouchedPages;
pub use view::{Access, Cost, View};
pub use window::{Chain, LATEST, Reach, SLOTS, Window};
