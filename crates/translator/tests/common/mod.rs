//! What tests of single functions have in common: the code, and how it is looked up.
use std::sync::Mutex;

use flick_engine::CodeRegion;
use flick_translator::{Program, Translator};

/// The translator of a test, and its program.
pub type Current<P> = Mutex<Option<(Translator, P)>>;

/// What translated code calls for a target: its translation, or 0. What is no code of the program is known
/// from the next call on.
pub fn look_up<P: Program>(
    current: &Current<P>,
    code: impl FnOnce(&P) -> &CodeRegion,
    target: u64,
) -> u64 {
    let mut current = current.lock().unwrap();
    let Some((translator, program)) = current.as_mut() else {
        return 0;
    };
    if let Some(known) = translator.targets().get(target) {
        return known;
    }
    if !code(program).contains(target) {
        translator.remember_elsewhere(target);
        return 0;
    }
    translator.entry(program, target).unwrap_or(0)
}

/// The code that these words are.
pub fn region(words: &[u32]) -> CodeRegion {
    // SAFETY: the words outlive the region and do not change.
    unsafe { CodeRegion::new(words.as_ptr() as u64, size_of_val(words) as u64) }
}
