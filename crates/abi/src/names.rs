//! Section and symbol names.

/// Non-allocated, SHF_EXCLUDE: NxP objects of a fat object ([`crate::layout::FatHeader`]).
pub const SEC_NXP: &str = ".flick.nxp";
/// Non-allocated: placement records, text, one line each (`docs/objects.md`).
pub const SEC_PLACE: &str = ".flick.place";
/// Non-allocated, in the final file: the linked RV64 ELF, with symbols and debug information.
pub const SEC_ELF: &str = ".flick.elf";
/// [`crate::layout::Unit`] records (allocated, writable, SHF_GNU_RETAIN).
pub const SEC_UNITS: &str = "flick_units";
/// [`crate::layout::Gate`] records (allocated, writable, SHF_GNU_RETAIN).
pub const SEC_GATES: &str = "flick_gates";
/// `FLICK_NXP_DATA` variables (allocated, writable, page-aligned).
pub const SEC_NXP_DATA: &str = "flick_nxp_data";
/// Before the name of a tile: `FLICK_NXP_DATA_ON` variables of this tile, as [`SEC_NXP_DATA`]; since
/// version 1.9. What is neither letter nor digit in the name is `_` and two hexadecimal digits.
pub const SEC_TILE_DATA_PREFIX: &str = "flick_nxp_data_";
/// [`crate::layout::TileData`] records (allocated, writable, SHF_GNU_RETAIN); since version 1.9.
pub const SEC_TILE_DATA: &str = "flick_tile_data";
/// Non-allocated, in NxP objects, since version 1.3. A record has 16 bytes: the address of a
/// function, and the fields of [`crate::layout::Arity`] behind its offset.
pub const SEC_ARITY: &str = ".flick.arity";
/// Non-allocated, in NxP objects, since version 1.5: the targets of jumps through registers. A
/// record has the number of targets and the number of jumps (32 bits each), and the 64-bit address
/// of each target and jump. Each of these jumps leads to one of these targets, in the same
/// function. Without targets the jumps leave the function.
pub const SEC_JUMPS: &str = ".flick.jumps";
/// [`crate::version::Note`], allocated: the version of a file.
pub const SEC_NOTE: &str = ".note.flick";
/// The image in the final file: page-aligned, relocated, then read-only (RELRO); never executable.
pub const SEC_IMAGE: &str = ".data.rel.ro.flick_image";

/// Hidden symbol that every fat object refers to and only the Flick link defines. Its name is the
/// message that a user of a plain linker reads.
pub const LINK_GUARD: &str = "flick_object__link_it_with_flick_cc__see_flick_explain_FLK0301";
/// NxP code of function `f` is `__flick_nxp_f` (hidden, in the image only).
pub const NXP_PREFIX: &str = "__flick_nxp_";
/// The translation of `f` is `__flick_code_f` (hidden, in the image only; weak where gates refer to
/// it); since version 1.6.
pub const CODE_PREFIX: &str = "__flick_code_";
/// A direct call from NxP code to a function `g` without NxP code in its unit calls
/// `__flick_call_g`. The image link binds it to NxP code or lets it stand for host symbol `g`.
pub const CALL_PREFIX: &str = "__flick_call_";
/// Host clone of a function placed on the NxP: `__flick_twin_f`, local to its unit.
pub const HOST_CLONE_PREFIX: &str = "__flick_twin_";
/// Prefix, before a number, of the code by which calls with a signature leave a unit.
pub const STUB_PREFIX: &str = "__flick_stub_";
/// Accessor of thread-local `v`: `void *__flick_tls_v(void)`, hidden, host code.
pub const TLS_PREFIX: &str = "__flick_tls_";
/// Hidden; [`crate::layout::Module`] of this executable or shared library.
pub const MODULE: &str = "__flick_module";

/// Name of the shared runtime in the programs that need it. It has the major version of
/// [`crate::ABI_VERSION`].
pub const RUNTIME_SONAME: &str = "libflick.so.1";

/// Whether a file of this name is a shared runtime, of whatever version.
pub fn is_runtime(file: &str) -> bool {
    file.strip_prefix("libflick.so")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// First target of every gate. flickcrt.o defines it and leads to libflick's `__flick_early`. If
/// libflick defined it, a link without Flick of a library made by Flick would fail over this name
/// (GNU ld: "DSO missing from command line"). It would not reach the guard, which names the remedy.
pub const RT_LAZY: &str = "__flick_lazy";
/// An entry of libflick, as the `RT_*` names below.
pub const RT_EARLY: &str = "__flick_early";
/// Registers a module with the runtime: `void (const Module *)`. A constructor in flickcrt.o calls
/// it.
pub const RT_REGISTER: &str = "__flick_register";
/// Removes a module again. A destructor in flickcrt.o calls it.
pub const RT_UNREGISTER: &str = "__flick_unregister";
/// NxP code jumps here for a call that needs a signature: t1 = signature, t2 = target.
pub const RT_XCALL: &str = "__flick_xcall";
/// Personality routine of the host's unwind information for NxP frames; since version 1.1.
pub const RT_PERSONALITY: &str = "__flick_personality";
/// Host code compiled with `--flick-check=device` calls this function before each access to memory:
/// `void (const void *, uint64_t size, uint32_t kind, const char *place)`; since version 1.1.
pub const RT_CHECK: &str = "__flick_check";
/// `setjmp`, `_setjmp` and `sigsetjmp` in NxP code call this function:
/// `int (jmp_buf, int save_mask, JumpTarget *)` ([`crate::layout::JumpTarget`]); since version 1.1.
pub const RT_SETJMP: &str = "__flick_setjmp";
/// The runtime's functions and tables that translated code in a module reaches, each by a word of
/// the module's; since version 1.6. The number is that of the first
/// [`crate::layout::TRANSLATION_ABI`] with this meaning.
pub const TRANSLATION_WORDS: [&str; 8] = [
    "__flick_1_targets",
    "__flick_1_call",
    "__flick_1_leave",
    "__flick_1_leave_at_call",
    "__flick_1_elsewhere",
    "__flick_1_helper",
    "__flick_1_convert",
    "__flick_1_vector",
];
/// The record of the fast path in `flickcrt.o` ([`crate::layout::NearCrossing`]).
pub const NEAR_CROSSING: &str = "__flick_near_crossing";
/// Prefix of the functions that NxP code calls in place of [`HEAP_FUNCTIONS`]; see
/// `docs/compiler.md`.
pub const RT_HEAP_PREFIX: &str = "__flick_heap_";

/// The C library's functions that become [`RT_HEAP_PREFIX`] in NxP code. The first of them are
/// [`ALLOCATOR_FUNCTIONS`].
pub const HEAP_FUNCTIONS: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "reallocarray",
    "strdup",
    "strndup",
];
/// The functions of an allocator. A program that defines one of them has a heap of its own.
pub const ALLOCATOR_FUNCTIONS: &[&str] = HEAP_FUNCTIONS.split_at(9).0;

/// The functions that `libflick.a` puts in front of libc's in `-static` programs, by the linker's
/// `--wrap`. `libflick.a` defines `__wrap_NAME` for each and calls `__real_NAME`. `libflick.so`
/// exports the same names instead.
pub const STATIC_WRAPS: &[&str] = &[
    "free",
    "realloc",
    "reallocarray",
    "malloc_usable_size",
    "sigaction",
    "signal",
    "bsd_signal",
    "ssignal",
    "sysv_signal",
    "__sysv_signal",
    "sigprocmask",
    "pthread_sigmask",
    "sigsuspend",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "pthread_create",
    "pthread_join",
];

/// `__flick_outside_g` of `libnxp.a` calls the host's `g` with its signature, for programs that
/// define `g` of [`NXP_LIBRARY`] themselves.
pub const OUTSIDE_PREFIX: &str = "__flick_outside_";

/// The functions that `libnxp.a` defines for the code generator and, with [`CALL_PREFIX`], for
/// direct calls.
pub const NXP_LIBRARY: &[&str] = &[
    "__ashlti3",
    "__ashrti3",
    "__bswapdi2",
    "__bswapsi2",
    "__clzdi2",
    "__clzti2",
    "__ctzdi2",
    "__ctzti2",
    "__divmodti4",
    "__divti3",
    "__extendhfsf2",
    "__fixdfti",
    "__fixsfti",
    "__fixunsdfti",
    "__fixunssfti",
    "__floattidf",
    "__floattisf",
    "__floatuntidf",
    "__floatuntisf",
    "__lshrti3",
    "__modti3",
    "__muloti4",
    "__multi3",
    "__popcountdi2",
    "__popcountti2",
    "__powidf2",
    "__powisf2",
    "__truncdfbf2",
    "__truncdfhf2",
    "__truncsfbf2",
    "__truncsfhf2",
    "__udivmodti4",
    "__udivti3",
    "__umodti3",
    "bcmp",
    "ceil",
    "ceilf",
    "floor",
    "floorf",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "nearbyint",
    "nearbyintf",
    "rint",
    "rintf",
    "round",
    "roundeven",
    "roundevenf",
    "roundf",
    "strlen",
    "trunc",
    "truncf",
];

#[cfg(test)]
mod tests {
    #[test]
    fn the_soname_has_the_major_version() {
        let major = crate::ABI_VERSION.major();
        assert_eq!(super::RUNTIME_SONAME, format!("libflick.so.{major}"));
        assert!(super::is_runtime("libflick.so") && super::is_runtime(super::RUNTIME_SONAME));
        assert!(!super::is_runtime("libflick.so_") && !super::is_runtime("libflick.a"));
    }
}
