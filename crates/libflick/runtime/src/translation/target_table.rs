//! Where calls through registers lead, for all translated code of the process.
use flick_translator::Targets;

/// The table. Translated code in a module finds it by this name
/// (`flick_abi::names::TRANSLATION_WORDS`).
#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub(crate) static __flick_1_targets: Targets = Targets::zero();
