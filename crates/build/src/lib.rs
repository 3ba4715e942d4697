//! From sources to an ELF with RV64 code: the driver behind `flick cc`, the image link, and the
//! commands that look into what they made (`docs/formats.md`).
pub mod help;
pub mod objdump;
pub mod root;

mod args;
mod both_pipelines;
mod command_line_record;
mod compile;
mod crash;
mod database;
mod driver;
mod expected;
mod explain;
mod failed_link;
mod inputs;
mod line;
mod link;
mod linker_choice;
mod nxp_link;
mod nxp_options;
mod options;
mod payload;
mod placement;
mod preprocessed;
mod refused;
mod replay;
mod reproduction;
mod response;
mod run;
mod search;
mod suggestion;
mod temp;
mod translated;
mod ungated;

pub use driver::{FrontEnd, cc};
pub use explain::place_explain;
pub use flick_image::{Code, Error, Result};
pub use link::ld;
pub use objdump::{Objdump, objdump};
pub use placement::{check_place_option, place_check};
pub use root::{Check, Root, TOOLS, Tool, tools};
