//! This crate has every layout and name that two parts of Flick share, once. It is `no_std`, and of
//! Flick it uses only the error codes. The compiler pass writes these layouts into objects, the
//! link step collects them in executables and libraries, and libflick and the tools read them
//! there. `docs/formats.md` explains how the layouts fit together.
//!
//! | module | contents | writer | readers |
//! |---|---|---|---|
//! | [`names`] | names of sections and symbols | pass, link step | link step, libflick, tools |
//! | [`signature`] | types of a call, as text | pass | libflick |
//! | [`layout`] | binary records | pass, link step | link step, libflick, tools |
//! | [`descriptor`] | messages to another backend | libflick, device | libflick, device |
//! | [`card`] | kernel calls of the card | kernel, programs of the card | kernel, programs of the card |
//! | [`accelerator`] | registers of accelerators | root kernel, device | root kernel, device |
//! | [`file_protocol`] | requests for pieces of files | programs, device, servers | programs, device, servers |
//! | [`file_session`] | requests for files by their paths | programs, servers | programs, servers |
//! | [`service`] | messages about sessions | root kernel | servers |
//! | [`step_request`] | requests for steps over arrays | programs, device | programs, device |
//! | [`request_function`] | functions with the mark `FLICK_ON` | pass | `libflick-files.a` |
//! | [`dtu`] | registers and messages of data transfer units | firmware, device | firmware, device |
//! | [`debug_interface`] | code for debuggers | libflick | `libflick-debug.so` |
//! | [`timed`] | records of `--flick-timed` | pass | libflick |
//! | [`thread_order`] | the interface of `libflick-time` | `libflick-time` | libflick |
//! | [`march`] | ISA strings | link step | libflick, tools |
//! | [`version`] | version numbers, the ELF note | pass, link step | link step, libflick, tools |
//! | [`settings`] | environment variables | the user | libflick, `flick config` |
//! | [`card::c_header`] | its C view, `flick/card.h` | the build | programs of the card |
//! | [`header`] | the C views, `flick_abi.h` and `flick_note.h` | the build | pass, libnxp |
//! | [`dtu_header`] | a C view, `flick_dtu.h` | the build | firmware and card programs in C |
//!
//! ```
//! use flick_abi::signature::{Class, Item, Signature};
//!
//! // double f(int, ...), called with a double behind the dots.
//! let signature = Signature::parse(b"1d(i.d)").unwrap();
//! assert_eq!(signature.ret, [Some(Class::F64), None]);
//! let mut args = signature.args();
//! for item in [Item::Arg(Class::Int), Item::Variadic, Item::Arg(Class::F64), Item::End] {
//!     assert_eq!(args.next_item(), Ok(item));
//! }
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), no_std)]

pub mod accelerator;
pub mod card;
pub mod card_interface;
pub mod debug_interface;
pub mod descriptor;
pub mod dtu;
mod dtu_endpoint;
pub mod dtu_header;
mod dtu_message;
mod dtu_pages;
pub mod file_protocol;
pub mod file_session;
pub mod header;
pub mod layout;
pub mod march;
pub mod names;
pub mod request_function;
pub mod service;
pub mod settings;
pub mod signature;
pub mod step_request;
pub mod thread_order;
pub mod timed;
pub mod version;

pub use march::NXP_MARCH;
pub use version::{Note, Version};

/// Version of everything in this crate. The link step and `__flick_register` refuse files of
/// incompatible versions. `docs/formats.md`, "Versions", says which change needs a new version.
pub const ABI_VERSION: Version = Version::new(1, 10);
