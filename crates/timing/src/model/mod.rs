//! Models of what lies between a core and its memories. They hold state and no time: an access is told, and
//! the answer is what it costs.
mod pages;
mod sets;
mod view;

pub use pages::Pages;
pub use sets::Sets;
pub use view::{Access, Cost, View};
