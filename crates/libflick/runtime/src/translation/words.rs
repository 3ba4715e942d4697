//! What translated code in a module reaches of the runtime, by the names that the link puts into the
//! module's words (`flick_abi::names::TRANSLATION_WORDS`).
use std::arch::naked_asm;
use std::ptr;

use flick_abi::names::TRANSLATION_WORDS;

use super::target_table::__flick_1_targets;

/// A call of the address in rax, for which the code knows no host address. r10: the cell that it has
/// tried, or 0.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __flick_1_call() {
    naked_asm!(
        "push r10",
        "lea r10, [rip + {lookup}]",
        "jmp {slow_call}",
        lookup = sym super::entry_for_module,
        slow_call = sym flick_translator::slow_call_with,
    )
}

macro_rules! word {
    ($name:ident: $function:ident) => {
        #[doc = concat!("`", stringify!($function), "` of the translator.")]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!("jmp {}", sym flick_translator::$function)
        }
    };
}

word!(__flick_1_leave: leave);
word!(__flick_1_leave_at_call: leave_at_call);
word!(__flick_1_elsewhere: elsewhere);
word!(__flick_1_helper: helper);
word!(__flick_1_convert: convert);
word!(__flick_1_vector: vector);

/// The addresses of [`TRANSLATION_WORDS`].
pub fn addresses() -> [u64; TRANSLATION_WORDS.len()] {
    [
        ptr::from_ref(&__flick_1_targets) as u64,
        __flick_1_call as *const () as u64,
        __flick_1_leave as *const () as u64,
        __flick_1_leave_at_call as *const () as u64,
        __flick_1_elsewhere as *const () as u64,
        __flick_1_helper as *const () as u64,
        __flick_1_convert as *const () as u64,
        __flick_1_vector as *const () as u64,
    ]
}
