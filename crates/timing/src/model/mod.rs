//! Models of the caches and the TLB between a core and its memories. They hold state and no time:
//! an access goes in, and its cost comes out.
mod page_order;
mod sets;
mod view;

pub use page_order::Pages;
pub use sets::Sets;
pub use view::{Access, Cost, View};
