//! The C view of the data transfer unit, for card programs and kernels in C.
use core::fmt::{self, Write};

use crate::dtu;

/// The name of a value in capitals: `NoSpace` is `NO_SPACE`.
fn write_capitals(out: &mut impl Write, name: &str) -> fmt::Result {
    for (i, letter) in name.chars().enumerate() {
        if i > 0 && letter.is_ascii_uppercase() {
            out.write_char('_')?;
        }
        out.write_char(letter.to_ascii_uppercase())?;
    }
    Ok(())
}

/// Writes `flick_dtu.h`: offsets of registers, numbers, and the header of a message.
///
/// # Errors
/// Those of `out`.
pub fn dtu_header(out: &mut impl Write) -> fmt::Result {
    out.write_str(
        "/* Made from crates/abi by its example c-headers. docs/dtu.md explains it. */\n\
         #pragma once\n#include <stdint.h>\n\n",
    )?;
    for (name, value) in [
        ("VERSION", dtu::VERSION.into()),
        ("COMMAND", dtu::COMMAND),
        ("RESULT", dtu::RESULT),
        ("ADDRESS", dtu::ADDRESS),
        ("SIZE", dtu::SIZE),
        ("OFFSET", dtu::OFFSET),
        ("LABEL", dtu::LABEL),
        ("EVENTS", dtu::EVENTS),
        ("ACTIVITY", dtu::ACTIVITY),
        ("INTERRUPT", dtu::INTERRUPT),
        ("IDENTITY", dtu::IDENTITY),
        ("ABORT", dtu::ABORT),
        ("ENABLE", dtu::ENABLE),
        ("WAITING", dtu::WAITING),
        ("WAITING_INTERRUPT", dtu::WAITING_INTERRUPT),
        ("TIMEOUT", dtu::TIMEOUT),
        ("NO_ACTIVITY", dtu::NO_ACTIVITY.into()),
        ("NO_ANSWER_ENDPOINT", dtu::NO_ANSWER_ENDPOINT.into()),
        ("NO_HEADER_ENDPOINT", dtu::NO_HEADER_ENDPOINT.into()),
        ("FLAG_ANSWER", dtu::FLAG_ANSWER.into()),
        ("FLAG_CREDIT", dtu::FLAG_CREDIT.into()),
        ("INTERRUPT_BIT", dtu::INTERRUPT_BIT.into()),
        ("ACCELERATOR_REGISTERS", dtu::ACCELERATOR_REGISTERS),
        ("INVALIDATE", dtu::INVALIDATE),
    ] {
        writeln!(out, "#define FLICK_DTU_{name} {value:#x}")?;
    }
    for (name, first, step) in [
        ("CURRENT", dtu::current(0), 8),
        ("WINDOW_BASE", dtu::window_base(0), 16),
        ("WINDOW_SIZE", dtu::window_size(0), 16),
        ("GONE", dtu::gone(0), 8),
    ] {
        writeln!(
            out,
            "#define FLICK_DTU_{name}(number) ({first:#x} + {step} * (uint64_t)(number))"
        )?;
    }
    writeln!(
        out,
        "#define FLICK_DTU_ENDPOINT_WORD(endpoint, word) \\\n  \
         ({:#x} + 32 * (uint64_t)(endpoint) + 8 * (uint64_t)(word))\n\
         #define FLICK_DTU_SLOT_RECORD(endpoint, slot) \\\n  \
         ({:#x} + 0x400 * (uint64_t)(endpoint) + 32 * (uint64_t)(slot))\n\
         #define FLICK_DTU_COMMAND_WORD(command, endpoint, answer, slot) \\\n  \
         ((uint64_t)(command) | (uint64_t)(endpoint) << 8 | (uint64_t)(answer) << 24 \\\n   \
         | (uint64_t)(slot) << 40)",
        dtu::endpoint_word(0, 0),
        dtu::slot_record(0, 0)
    )?;
    for &command in dtu::Command::ALL {
        write!(out, "#define FLICK_DTU_")?;
        write_capitals(out, command.name())?;
        writeln!(out, " {}", command as u8)?;
    }
    for &error in dtu::Error::ALL {
        write!(out, "#define FLICK_DTU_ERROR_")?;
        write_capitals(out, error.name())?;
        writeln!(out, " {}", error as u8)?;
    }
    out.write_str(
        "\n/* A message lies in its slot with this header in front of the payload. */\n\
         struct flick_dtu_header {\n  \
         uint8_t flags;\n  \
         uint8_t tile;\n  \
         uint8_t endpoint;\n  \
         uint8_t answer_endpoint;\n  \
         uint16_t size;\n  \
         uint16_t activity;\n  \
         uint64_t answer_label;\n  \
         uint64_t label;\n\
         };\n\n\
         /* In front of the payload that FLICK_DTU_FORWARD sends. */\n\
         struct flick_dtu_forwarded_header {\n  \
         struct flick_dtu_header header;\n  \
         uint16_t credit_endpoint;\n  \
         uint16_t has_credit;\n  \
         uint32_t credit_setup;\n\
         };\n",
    )?;
    writeln!(
        out,
        "_Static_assert(sizeof(struct flick_dtu_forwarded_header) == {}, \"no padding\");",
        dtu::FORWARDED_HEADER_SIZE
    )?;
    writeln!(
        out,
        "_Static_assert(sizeof(struct flick_dtu_header) == {}, \"no padding\");",
        dtu::HEADER_SIZE
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_finds_registers_commands_and_errors() {
        let mut text = String::new();
        dtu_header(&mut text).unwrap();
        assert!(text.contains("#define FLICK_DTU_EVENTS 0x30\n"));
        assert!(
            text.contains("#define FLICK_DTU_CURRENT(number) (0x1100 + 8 * (uint64_t)(number))\n")
        );
        assert!(text.contains("#define FLICK_DTU_ACKNOWLEDGE 6\n"));
        assert!(text.contains("#define FLICK_DTU_ERROR_NO_SPACE 3\n"));
        assert!(text.contains("sizeof(struct flick_dtu_header) == 24"));
    }
}
