//! What a run predicts, at the end of its trace: the same lines as in its record, so that they are
//! one format.
use super::encoder::block;
use super::trace_format::{Kind, Reason};
use super::wire::Source;
use crate::timed::Timed;
use crate::timed_record;

/// After the last line: without it the block was cut.
const END: &str = "end\n";

/// The block to append to the trace of `process`, at its exit.
pub fn prediction_block(process: u32, timed: &Timed) -> Vec<u8> {
    let mut lines = String::new();
    timed_record::write(timed, &mut lines);
    lines.push_str(END);
    block(Kind::Prediction, process, lines.as_bytes())
}

/// Where a line is wrong `source` is left at its beginning.
pub(super) fn read(source: &mut Source<'_>) -> Result<Timed, Reason> {
    let mut timed = Timed::default();
    loop {
        let rest = source.bytes.get(source.at..).unwrap_or_default();
        let line = rest
            .split_inclusive(|&byte| byte == b'\n')
            .next()
            .filter(|line| line.ends_with(b"\n"))
            .ok_or(Reason::Truncated)?;
        if line != END.as_bytes() {
            take(&mut timed, line).ok_or(Reason::Prediction)?;
        }
        source.at += line.len();
        if line == END.as_bytes() {
            return Ok(timed);
        }
    }
}

fn take(timed: &mut Timed, line: &[u8]) -> Option<()> {
    let (key, value) = str::from_utf8(line)
        .ok()?
        .trim_end_matches('\n')
        .split_once(' ')?;
    timed_record::take(timed, key, value)
}
