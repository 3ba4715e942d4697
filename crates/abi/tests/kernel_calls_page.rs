//! `docs/kernel-calls.md` is made from the table of kernel calls: `FLICK_BLESS=1` writes it again.
use std::fmt::Write;
use std::path::Path;

use flick_abi::card::{CallPage, CallPlace, pages};

const INTRODUCTION: &str = "# Kernel calls
This page is made from the tables in `crates/abi/src/card` (`kernel_calls.rs` and `root_calls.rs`).
`FLICK_BLESS=1 cargo test -p flick-abi` writes it again.
[The kernel](kernel.md) explains threads, processes and harts. [The root](root.md) explains the
calls from `tile_find` on, which its kernel alone has.

A program has the number of a call in a7 and its arguments in a0 to a5. Then it executes `ecall`.
Behind it, a0 has the result, or the negative number of an error. a1 has the second result. Other
registers are as before. Times are values of `time`, the machine's clock. A wait until 2^64 - 1 has
no end.
";

const WIDTH: usize = 100;

/// Breaks a text into lines.
fn paragraph(page: &mut String, text: &str) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column != 0 && column + 1 + length > WIDTH {
            page.push('\n');
            column = 0;
        } else if column != 0 {
            page.push(' ');
            column += 1;
        }
        page.push_str(word);
        column += length;
    }
    page.push('\n');
}

fn write_call(page: &mut String, call: &CallPage) {
    let place = match call.place {
        CallPlace::Caller => "the caller's hart",
        CallPlace::Kernel => "the kernel hart",
        CallPlace::Unit => "the caller's hart; the kernel hart, if it has to wait",
        CallPlace::Either => "the caller's hart, or the kernel hart if a thread waits",
    };
    writeln!(page, "\n## {}", call.name).unwrap();
    paragraph(page, call.text);
    writeln!(page, "\n| | |\n|---|---|").unwrap();
    writeln!(page, "| number | {} |", call.number).unwrap();
    writeln!(page, "| executed by | {place} |").unwrap();
    for (n, (name, meaning)) in call.arguments.iter().enumerate() {
        writeln!(page, "| a{n} | `{name}`: {meaning} |").unwrap();
    }
    writeln!(page, "| result | {} |", call.result).unwrap();
    for (error, when) in call.errors {
        writeln!(page, "| `{}` | {when} |", error.c_name()).unwrap();
    }
}

#[test]
fn the_page_is_the_tables() {
    let mut page = INTRODUCTION.to_owned();
    pages().for_each(|call| write_call(&mut page, call));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kernel-calls.md");
    if std::env::var_os("FLICK_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page, "FLICK_BLESS=1 cargo test -p flick-abi");
}
