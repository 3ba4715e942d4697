//! The C view of the kernel calls, `flick/card.h`.
use core::fmt::{self, Write};

use crate::accelerator::{self, Input, Status};
use crate::file_protocol::{DOES_NOT_WAIT, Operation};
use crate::file_session::{self, Failure};
use crate::service;

use super::{
    CallPage, Error, ExceptionRecord, ProgramImage, ProgramStart, ThreadState, hint, pages, rights,
};

const BEGIN: &str = "\
/* The kernel calls of the card (docs/kernel-calls.md). Made from crates/abi/src/card by its example
   c-headers. */
#pragma once
#include <errno.h>
#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#define FLICK_STATIC_ASSERT static_assert
#else
#define FLICK_STATIC_ASSERT _Static_assert
#endif
";

const RECORDS: &str = "
/* What the first thread of a program has in a0. Texts end with a zero byte each. */
struct flick_program_start {
  uint64_t version, arguments, text, size, tile, tiles, harts, frequency, incoherent;
};

/* That of this program; in the library of `flick card cc`. */
extern struct flick_program_start flick_program;

/* What the image of a program for another tile begins with (flick_activity_start): its version is
   FLICK_IMAGE_VERSION. Texts of arguments and environment are behind it, then the ELF file. */
struct flick_program_image {
  uint64_t version, arguments, environment, texts, file, size;
};

struct flick_exception_record {
  uint64_t thread, cause, pc, value;
};

/* x[0] is x1. */
struct flick_thread_state {
  uint64_t pc, x[31], f[32], fcsr;
};
";

const CALL: &str = "
#ifdef FLICK_HOST_CALLS
/* Of a host program (docs/host-files.md): calls of the root role alone. */
int64_t flick_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                   uint64_t f, uint64_t *second);
uint64_t flick_time(void);
#else
/* Any call. The second result is stored if there is a place for it. */
static inline int64_t flick_call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                 uint64_t e, uint64_t f, uint64_t *second) {
  register uint64_t a0 __asm__(\"a0\") = a;
  register uint64_t a1 __asm__(\"a1\") = b;
  register uint64_t a2 __asm__(\"a2\") = c;
  register uint64_t a3 __asm__(\"a3\") = d;
  register uint64_t a4 __asm__(\"a4\") = e;
  register uint64_t a5 __asm__(\"a5\") = f;
  register uint64_t a7 __asm__(\"a7\") = number;
  __asm__ volatile(\"ecall\"
                   : \"+r\"(a0), \"+r\"(a1)
                   : \"r\"(a2), \"r\"(a3), \"r\"(a4), \"r\"(a5), \"r\"(a7)
                   : \"memory\");
  if (second)
    *second = a1;
  return (int64_t)a0;
}

/* The machine's clock, in which the calls have their times. */
static inline uint64_t flick_time(void) {
  uint64_t time;
  __asm__ volatile(\"rdtime %0\" : \"=r\"(time));
  return time;
}
#endif
";

const ARGUMENTS: usize = 6;

fn constants(out: &mut impl Write) -> fmt::Result {
    writeln!(out)?;
    for (name, value) in [
        ("READ", rights::READ),
        ("WRITE", rights::WRITE),
        ("EXECUTE", rights::EXECUTE),
        ("SHARED", rights::SHARED),
        ("PAGE", super::PAGE),
        ("PAGES_AT_ONCE", super::PAGES_AT_ONCE),
        ("STACK_END", super::STACK_END),
        ("START_WITH_ENVIRONMENT", super::START_WITH_ENVIRONMENT),
        ("IMAGE_VERSION", super::IMAGE_VERSION),
        ("PRIORITIES", super::PRIORITIES),
        ("NORMAL_PRIORITY", super::NORMAL_PRIORITY),
        ("HINT_GENERAL", hint::GENERAL),
        ("HINT_VECTORS", hint::VECTORS),
        ("HINT_FLOATS", hint::FLOATS),
        ("HINT_CUSTOM", hint::CUSTOM),
        ("INPUT_REQUESTS", accelerator::INPUT_REQUESTS.into()),
        ("INPUT_DATA", accelerator::INPUT_DATA.into()),
        ("OUTPUT_REQUESTS", accelerator::OUTPUT_REQUESTS.into()),
        ("OUTPUT_DATA", accelerator::OUTPUT_DATA.into()),
        ("INPUT_ASKED", Input::Asked as u64),
        ("INPUT_PUSHED", Input::Pushed as u64),
        ("STATUS_ENDED", Status::Ended as u64),
        ("STATUS_FAILED", Status::Failed as u64),
        ("FILE_STAT", Operation::Stat as u64),
        ("FILE_SEEK", Operation::Seek as u64),
        ("FILE_NEXT_IN", Operation::NextIn as u64),
        ("FILE_NEXT_OUT", Operation::NextOut as u64),
        ("FILE_COMMIT", Operation::Commit as u64),
        ("FILE_NEXT_INOUT", Operation::NextInOut as u64),
        ("FILE_END", Operation::End as u64),
        ("FILE_DOES_NOT_WAIT", DOES_NOT_WAIT),
        ("SERVICE_OPEN", service::OPEN),
        ("SERVICE_CLOSE", service::CLOSE),
        ("NO_SLOT", service::NO_SLOT),
        ("FILES_PAGE", file_session::PAGE_SIZE),
        ("FILES_BEGIN", file_session::Operation::Begin as u64),
        ("FILES_OPEN", file_session::Operation::Open as u64),
        ("FILES_CLOSE", file_session::Operation::Close as u64),
        ("FILES_ABOUT", file_session::Operation::About as u64),
        (
            "FILES_MAKE_DIRECTORY",
            file_session::Operation::MakeDirectory as u64,
        ),
        (
            "FILES_REMOVE_DIRECTORY",
            file_session::Operation::RemoveDirectory as u64,
        ),
        ("FILES_LINK", file_session::Operation::Link as u64),
        ("FILES_UNLINK", file_session::Operation::Unlink as u64),
        ("FILES_RENAME", file_session::Operation::Rename as u64),
        ("FILES_LIST", file_session::Operation::List as u64),
        ("FILES_RESIZE", file_session::Operation::Resize as u64),
        ("FILES_PIPE", file_session::Operation::Pipe as u64),
        ("FILES_SHARE", file_session::Operation::Share as u64),
        ("FILES_ADOPT", file_session::Operation::Adopt as u64),
        ("FILES_READY", file_session::Operation::Ready as u64),
        ("FILES_READY_READ", file_session::ready::READ),
        ("FILES_READY_WRITE", file_session::ready::WRITE),
        ("FILES_READY_GONE", file_session::ready::GONE),
        ("FILES_KIND_DIRECTORY", file_session::kind::DIRECTORY),
        ("FILES_KIND_PIPE", file_session::kind::PIPE),
        ("FILES_KIND_TERMINAL", file_session::kind::TERMINAL),
        ("FILES_CREATE", file_session::flags::CREATE),
        ("FILES_EXCLUSIVE", file_session::flags::EXCLUSIVE),
        ("FILES_TRUNCATE", file_session::flags::TRUNCATE),
        ("FILES_APPEND", file_session::flags::APPEND),
        ("FILES_SHARED", file_session::flags::SHARED),
    ] {
        writeln!(out, "#define FLICK_{name} {value}u")?;
    }
    writeln!(out, "#define FLICK_FOR_EVER UINT64_MAX")
}

/// Numbers of errors are the kernel's; those of `errno.h` are the C library's.
fn errors(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "\n/* Errors of calls: a result is their negative. */")?;
    for &error in Error::ALL {
        writeln!(out, "#define FLICK_{} {}", error.c_name(), error as i64)?;
    }
    writeln!(out, "\n/* Further errors, of servers. */")?;
    for &(failure, name) in Failure::OTHERS {
        writeln!(out, "#define FLICK_{name} {}", failure as u64)?;
    }
    writeln!(
        out,
        "\n/* The value of errno for a call's result; 0: the call has succeeded. */\n\
         static inline int flick_errno(int64_t result) {{\n  switch (result) {{"
    )?;
    let others = Failure::OTHERS.iter().map(|&(_, name)| name);
    for name in Error::ALL.iter().map(|error| error.c_name()).chain(others) {
        writeln!(out, "  case -FLICK_{name}:\n    return {name};")?;
    }
    writeln!(out, "  }}\n  return 0;\n}}")
}

fn numbers(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "\n/* Numbers of calls. */")?;
    for page in pages() {
        out.write_str("#define FLICK_CALL_")?;
        let mut name = page.name.chars();
        name.try_for_each(|c| out.write_char(c.to_ascii_uppercase()))?;
        writeln!(out, " {}", page.number)?;
    }
    Ok(())
}

/// Without its line breaks.
fn comment(out: &mut impl Write, page: &CallPage) -> fmt::Result {
    writeln!(out, "\n/* {}", page.text)?;
    for (name, meaning) in page.arguments {
        writeln!(out, "   {name}: {meaning}.")?;
    }
    writeln!(out, "   Result: {}. */", page.result)
}

fn call(out: &mut impl Write, page: &CallPage) -> fmt::Result {
    comment(out, page)?;
    let has_second = page.result.contains(';');
    write!(out, "static inline int64_t flick_{}(", page.name)?;
    for (n, (name, _)) in page.arguments.iter().enumerate() {
        let comma = if n == 0 { "" } else { ", " };
        write!(out, "{comma}uint64_t {name}")?;
    }
    match (has_second, page.arguments.is_empty()) {
        (true, true) => write!(out, "uint64_t *second")?,
        (true, false) => write!(out, ", uint64_t *second")?,
        (false, true) => write!(out, "void")?,
        (false, false) => {}
    }
    write!(out, ") {{\n  return flick_call({}", page.number)?;
    for n in 0..ARGUMENTS {
        match page.arguments.get(n) {
            Some((name, _)) => write!(out, ", {name}")?,
            None => write!(out, ", 0")?,
        }
    }
    let second = if has_second { "second" } else { "0" };
    writeln!(out, ", {second});\n}}")
}

/// Writes `flick/card.h`: a function for each call, and the records.
///
/// # Errors
/// Those of `out`.
pub fn c_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(BEGIN)?;
    constants(out)?;
    out.write_str(RECORDS)?;
    for (name, size) in [
        ("program_start", size_of::<ProgramStart>()),
        ("program_image", size_of::<ProgramImage>()),
        ("exception_record", size_of::<ExceptionRecord>()),
        ("thread_state", size_of::<ThreadState>()),
    ] {
        let assert = format_args!("sizeof(struct flick_{name}) == {size}, \"size\"");
        writeln!(out, "FLICK_STATIC_ASSERT({assert});")?;
    }
    out.write_str(CALL)?;
    errors(out)?;
    numbers(out)?;
    pages().try_for_each(|page| call(out, page))?;
    writeln!(out, "\n#ifdef __cplusplus\n}}\n#endif")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Call;

    #[test]
    fn each_call_has_a_function() {
        let mut text = String::new();
        c_header(&mut text).unwrap();
        let join = format!(
            "flick_thread_join(uint64_t thread, uint64_t until, uint64_t *second) {{\n  \
             return flick_call({}, thread, until, 0, 0, 0, 0, second);",
            Call::ThreadJoin as u64
        );
        assert!(text.contains(&join));
        assert!(text.contains("flick_process_self(uint64_t *second) {"));
        assert!(text.contains("flick_thread_self(void) {"));
        assert!(text.contains("#define FLICK_EDEADLK 35\n"));
        assert!(text.contains("case -FLICK_EDEADLK:\n    return EDEADLK;"));
        assert_eq!(text.matches("return flick_call(").count(), pages().count());
    }
}
