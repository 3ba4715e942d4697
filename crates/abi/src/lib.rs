//! Every layout and name that two parts of Flick share, once: object sections, records, symbol
//! names, signatures. `no_std`; the C view (`pass/flick_abi.h`) is generated from here by
//! [`header::c_header`] and a test keeps it equal. `docs/formats.md` explains how they fit together.
#![cfg_attr(not(test), no_std)]

pub mod header;
pub mod layout;
pub mod march;
pub mod names;
pub mod settings;
pub mod signature;
pub mod timed;
pub mod version;

pub use march::NXP_MARCH;
pub use version::{Note, Version};

/// Version of everything in this crate. What does not go together is refused by the link step and by
/// `__flick_register` (`docs/formats.md`, "Versions", says what a change of it is).
pub const ABI_VERSION: Version = Version::new(1, 5);
