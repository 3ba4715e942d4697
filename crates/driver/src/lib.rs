//! The compiler driver behind `flick cc`, the image link, and the commands that show what they
//! made. `docs/compiler.md` and `docs/objects.md` describe both.
//!
//! The input is the user's command line, the placement files, and the objects and libraries of a
//! link. It flows in this order:
//! 1. **Arguments.** `driver.rs` takes the command line. `response.rs` expands response files,
//!    `clang_options.rs` knows which of clang's options have values, and `args.rs` finds Flick's
//!    own options and the inputs. `placement_options.rs` and `nxp_options.rs` check the values,
//!    `help.rs` describes the options, and `refused.rs` says what Flick does not handle.
//! 2. **Compile.** `compile.rs` adds Flick's words to clang's line. `both_pipelines.rs`,
//!    `command_line_record.rs`, `database.rs` and `preprocessed.rs` keep single options of clang's
//!    right. `root.rs` finds the tools and Flick's files, and `run.rs` runs clang, whose output is
//!    a fat object.
//! 3. **Link.** clang calls Flick as its linker (`linker_choice.rs`). `line.rs` reads the linker's
//!    line, `search.rs` and `link_inputs.rs` read the inputs, and `payload.rs` prepares each unit's
//!    NxP object. `nxp_link.rs` makes the image object, with the translation that `translate_image.rs` makes
//!    of `image_code.rs`, and `link.rs` runs the host linker, whose output is the program or
//!    library.
//! 4. **Notes on the result.** `expected.rs`, `ungated.rs`, `failed_link.rs` and `suggestion.rs`
//!    explain what a user would not see in the linker's own text.
//! 5. **Views.** `objdump.rs`, `translated.rs` and `place_explain.rs` show a finished file.
//!    `verify.rs` and `verified_code.rs` compare its translation with what this Flick makes.
//!
//! `card_compile.rs` is the compiler of programs that run on a card alone, and uses only `root.rs`.
//!
//! `crash.rs`, `reproduction.rs` and `replay.rs` are for failures that are not the user's, and
//! `temp.rs` has the temporary files of a command.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod help;
pub mod objdump;
pub mod root;
pub mod verify;

mod args;
mod beside;
mod both_pipelines;
mod card_compile;
mod clang_options;
mod command_line_record;
mod compile;
mod crash;
mod database;
mod driver;
mod expected;
mod failed_link;
mod file_translation;
mod image_code;
mod line;
mod link;
mod link_inputs;
mod linker_choice;
mod nxp_link;
mod nxp_options;
mod payload;
mod place_explain;
mod placement_options;
mod preprocessed;
mod refused;
mod replay;
mod reproduction;
mod response;
mod run;
mod search;
mod suggestion;
mod temp;
mod translate_image;
mod translated;
mod translation_cache;
mod ungated;
mod verified_code;

pub use card_compile::card_cc;
pub use driver::{FrontEnd, cc};
pub use flick_image::{Error, Result};
pub use link::ld;
pub use objdump::{Objdump, objdump};
pub use place_explain::place_explain;
pub use placement_options::{check_place_option, place_check};
pub use root::{Check, Root, TOOLS, Tool, tools};
pub use translate_image::{translate as translate_image, translate_for_harts};
pub use verify::{Verified, verify};
