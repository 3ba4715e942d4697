//! What `libflick.so` offers to the linker: the ABI of programs with NxP code, and the functions of
//! libc that it stands in front of. An entry that goes away breaks programs that were built earlier
//! (`docs/formats.md`, "Versions").
use std::collections::BTreeSet;

use flick_abi::names::{
    HEAP_FUNCTIONS, RT_CHECK, RT_EARLY, RT_HEAP_PREFIX, RT_PERSONALITY, RT_REGISTER, RT_SETJMP,
    RT_UNREGISTER, RT_XCALL, STATIC_WRAPS, TRANSLATION_WORDS,
};
use flick_abi::{thread_order, timed};
use flick_support::library;
use object::{Object, ObjectSymbol, SymbolKind};

#[test]
fn exports() {
    let data = std::fs::read(library::dir(env!("CARGO_PKG_NAME")).join("libflick.so")).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let exported: BTreeSet<String> = file
        .dynamic_symbols()
        .filter(|symbol| {
            // To the reader a thread-local symbol is no definition.
            let local = symbol.kind() == SymbolKind::Tls && !symbol.is_undefined();
            (symbol.is_definition() || local) && symbol.is_global()
        })
        .map(|symbol| symbol.name().unwrap().to_owned())
        .collect();
    let api = [
        "flick_alloc",
        "flick_alloc_on",
        "flick_free",
        "flick_hint",
        "flick_is_nxp_memory",
        "flick_predict",
        "flick_prefer",
        "flick_tile_of",
    ];
    // What `libflick-files.a` calls.
    let files = ["__flick_root_call"];
    // What timed host code needs.
    let timed = [
        timed::ACCESS,
        timed::BRANCHES,
        timed::CLOCK,
        timed::FULL,
        timed::LIBRARY,
        timed::LINES,
        timed::MAP,
        timed::MEMORY,
        timed::OWN_LINES,
        timed::THREAD_CREATE,
        timed::THREAD_JOIN,
        timed::UNIT,
    ];
    let entries = [
        RT_CHECK,
        RT_EARLY,
        RT_PERSONALITY,
        RT_REGISTER,
        RT_SETJMP,
        RT_UNREGISTER,
        RT_XCALL,
    ];
    let heap = HEAP_FUNCTIONS
        .iter()
        .map(|name| format!("{RT_HEAP_PREFIX}{name}"));
    let mut expected: BTreeSet<String> = heap.collect();
    expected.extend(
        api.iter()
            .chain(&entries)
            .chain(&files)
            .chain(&TRANSLATION_WORDS)
            .chain(&timed)
            .chain(STATIC_WRAPS)
            .map(|&name| name.to_owned()),
    );
    // What libflick-time and atomic accesses of timed code need.
    let ordered = thread_order::FUNCTIONS.iter().map(|(name, _)| name);
    expected.extend(ordered.map(|name| format!("{}{name}", thread_order::PREFIX)));
    let order = [
        thread_order::ATOMIC,
        thread_order::LEVEL,
        thread_order::LINKED,
        thread_order::NEXT,
    ];
    expected.extend(order.map(str::to_owned));
    // The gdb script reads it; nothing links to it.
    expected.insert("__flick_debugger".into());
    assert_eq!(exported, expected);
}
