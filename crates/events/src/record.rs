//! The summary as a record for tools: text, one line per fact, self-delimiting, so that several
//! processes can append to one file.
//!
//! ```text
//! flick-stats 1
//! program ./bfs
//! pid 7
//! …
//! call host-to-nxp 10 bfs<TAB>bfs
//! end
//! ```
//!
//! A line is a key, a space and a value up to the line's end. In values `\\`, `\n`, `\r` and `\t`
//! stand for a backslash, line feed, carriage return and tab; other bytes are themselves. Unknown
//! keys are skipped: a reader of version 1 reads records of later writers that only added keys. A
//! change of meaning gets a new version, which this reader refuses.

use crate::lines::{calls, escape, push, unescape};
use crate::{Cause, Heap, Migrations, Offload, Summary, Trigger};

/// The version of the format that this crate writes and reads.
pub const VERSION: u32 = 1;

const HEADER: &str = "flick-stats";
const HOST_TO_NXP: &str = "host-to-nxp";
const NXP_TO_HOST: &str = "nxp-to-host";
const CAUSES: [(&str, Cause); 2] = [("off", Cause::Off), ("early", Cause::Early)];

/// Why bytes are not a sequence of records. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The line, where a record should begin.
    #[error("line {0}: not a Flick statistics record")]
    NotARecord(usize),
    /// The line, and the version that it names.
    #[error("line {0}: record version {1}, this reader knows {VERSION}")]
    Version(usize, String),
    /// The line, and the key of the value.
    #[error("line {0}: bad value of `{1}`")]
    BadValue(usize, String),
    /// The line at which the bytes end.
    #[error("line {0}: the record has no end (a process was killed while it wrote it)")]
    Truncated(usize),
}

impl Summary {
    /// The record, ready to be appended to a file with one write.
    pub fn to_record(&self) -> String {
        let mut out = format!("{HEADER} {VERSION}\n");
        let trigger = match self.trigger {
            Trigger::Gate => "gate",
            Trigger::Fault => "fault",
        };
        let offload = match &self.offload {
            Offload::On => "on".to_owned(),
            Offload::Off(why) => format!("off {why}"),
        };
        let heap = match &self.heap {
            Heap::Nxp => "nxp".to_owned(),
            Heap::Host(why) => format!("host {why}"),
        };
        for (key, value) in [
            ("program", self.program.as_str()),
            ("trigger", trigger),
            ("engine", &self.engine),
            ("backend", &self.backend),
            ("offload", &offload),
            ("heap", &heap),
        ] {
            push(&mut out, format_args!("{key} {}", escape(value)));
        }
        push(&mut out, format_args!("pid {}", self.pid));
        for (key, value) in self.numbers() {
            push(&mut out, format_args!("{key} {value}"));
        }
        for (direction, calls) in [
            (HOST_TO_NXP, &self.host_to_nxp),
            (NXP_TO_HOST, &self.nxp_to_host),
        ] {
            for c in calls {
                let (function, module) = (escape(&c.function), escape(&c.module));
                push(
                    &mut out,
                    format_args!("call {direction} {} {function}\t{module}", c.count),
                );
            }
        }
        for (cause, c) in &self.on_host {
            let name = CAUSES.iter().find(|(_, known)| known == cause);
            let (function, module) = (escape(&c.function), escape(&c.module));
            push(
                &mut out,
                format_args!(
                    "on-host {} {} {function}\t{module}",
                    name.map_or("", |(name, _)| name),
                    c.count
                ),
            );
        }
        for m in &self.migrations {
            let (instruction, place) = (escape(&m.instruction), escape(&m.place));
            push(
                &mut out,
                format_args!(
                    "migration {} {} {} {instruction}\t{place}",
                    m.count, m.threads, m.cost
                ),
            );
        }
        for file in &self.files {
            push(&mut out, format_args!("file {}", escape(file)));
        }
        if let Some(why) = &self.trace_lost {
            push(&mut out, format_args!("trace-lost {}", escape(why)));
        }
        if let Some(card) = &self.card {
            card.write(&mut out);
        }
        if let Some(timed) = &self.timed {
            crate::timed_record::write(timed, &mut out);
        }
        out.push_str("end\n");
        out
    }

    fn numbers(&self) -> [(&'static str, u64); 14] {
        [
            ("faults", self.faults),
            ("instructions", self.instructions),
            ("translated-bytes", self.translated),
            ("translation-bytes", self.translation),
            ("translation-table-bytes", self.translation_tables),
            ("translations", self.translations),
            ("threads", self.threads),
            ("region-bytes", self.region_size),
            ("heap-peak-bytes", self.heap_peak),
            ("heap-live-bytes", self.heap_live),
            ("stack-peak-bytes", self.stack_peak),
            ("elapsed-ns", self.elapsed),
            ("user-ns", self.user),
            ("system-ns", self.system),
        ]
    }

    fn number_mut(&mut self, key: &str) -> Option<&mut u64> {
        Some(match key {
            "faults" => &mut self.faults,
            "instructions" => &mut self.instructions,
            "translated-bytes" => &mut self.translated,
            "translation-bytes" => &mut self.translation,
            "translation-table-bytes" => &mut self.translation_tables,
            "translations" => &mut self.translations,
            "threads" => &mut self.threads,
            "region-bytes" => &mut self.region_size,
            "heap-peak-bytes" => &mut self.heap_peak,
            "heap-live-bytes" => &mut self.heap_live,
            "stack-peak-bytes" => &mut self.stack_peak,
            "elapsed-ns" => &mut self.elapsed,
            "user-ns" => &mut self.user,
            "system-ns" => &mut self.system,
            _ => return None,
        })
    }

    /// Takes one line of a record; `None` if its value is not what the key calls for.
    fn take(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "program" => self.program = unescape(value)?,
            "pid" => self.pid = value.parse().ok()?,
            "engine" => self.engine = unescape(value)?,
            "backend" => self.backend = unescape(value)?,
            "trigger" => {
                self.trigger = match value {
                    "gate" => Trigger::Gate,
                    "fault" => Trigger::Fault,
                    _ => return None,
                }
            }
            "offload" => {
                self.offload = match value {
                    "on" => Offload::On,
                    _ => Offload::Off(unescape(value.strip_prefix("off ")?)?),
                }
            }
            "heap" => {
                self.heap = match value {
                    "nxp" => Heap::Nxp,
                    _ => Heap::Host(unescape(value.strip_prefix("host ")?)?),
                }
            }
            "call" => {
                let (direction, rest) = value.split_once(' ')?;
                let calls = calls(rest)?;
                match direction {
                    HOST_TO_NXP => self.host_to_nxp.push(calls),
                    NXP_TO_HOST => self.nxp_to_host.push(calls),
                    _ => return None,
                }
            }
            "on-host" => {
                let (name, rest) = value.split_once(' ')?;
                let (_, cause) = CAUSES.iter().find(|(known, _)| *known == name)?;
                self.on_host.push((*cause, calls(rest)?));
            }
            "migration" => self.migrations.push(migrations(value)?),
            "file" => self.files.push(unescape(value)?),
            "trace-lost" => self.trace_lost = Some(unescape(value)?),
            key if key.starts_with(crate::card::PREFIX) => {
                self.card.get_or_insert_default().take(key, value)?;
            }
            key if key.starts_with(crate::timed_record::PREFIX) => {
                let timed = self.timed.get_or_insert_default();
                crate::timed_record::take(timed, key, value)?;
            }
            _ => {
                if let Some(number) = self.number_mut(key) {
                    *number = value.parse().ok()?;
                }
            }
        }
        Some(())
    }
}

/// `COUNT THREADS COST INSTRUCTION<TAB>PLACE`
fn migrations(text: &str) -> Option<Migrations> {
    let mut words = text.splitn(4, ' ');
    let mut number = || words.next()?.parse().ok();
    let (count, threads, cost) = (number()?, number()?, number()?);
    let (instruction, place) = words.next()?.split_once('\t')?;
    Some(Migrations {
        count,
        threads,
        cost,
        instruction: unescape(instruction)?,
        place: unescape(place)?,
    })
}

/// All records of a file, in the order in which the processes ended.
pub fn parse(text: &str) -> Result<Vec<Summary>, ParseError> {
    let mut records = Vec::new();
    let mut open: Option<Summary> = None;
    let mut count = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        count = i + 1;
        let line = line
            .strip_suffix('\n')
            .ok_or(ParseError::Truncated(count))?;
        match &mut open {
            None => {
                let version = line
                    .strip_prefix(HEADER)
                    .and_then(|rest| rest.strip_prefix(' '))
                    .ok_or(ParseError::NotARecord(count))?;
                if version.parse() != Ok(VERSION) {
                    return Err(ParseError::Version(count, version.to_owned()));
                }
                open = Some(Summary::default());
            }
            Some(_) if line == "end" => records.extend(open.take()),
            Some(summary) => {
                let (key, value) = line.split_once(' ').ok_or(ParseError::NotARecord(count))?;
                summary
                    .take(key, value)
                    .ok_or_else(|| ParseError::BadValue(count, key.to_owned()))?;
            }
        }
    }
    match open {
        None => Ok(records),
        Some(_) => Err(ParseError::Truncated(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Calls;

    fn full() -> Summary {
        Summary {
            program: "./odd name\n\\n\twith é".into(),
            pid: u32::MAX,
            trigger: Trigger::Fault,
            engine: "interp".into(),
            backend: "inline".into(),
            offload: Offload::Off("why not\n".into()),
            heap: Heap::Host("".into()),
            host_to_nxp: vec![Calls {
                function: "f".into(),
                module: "a b".into(),
                count: 1,
            }],
            nxp_to_host: vec![
                Calls {
                    function: "".into(),
                    module: "".into(),
                    count: u64::MAX,
                },
                Calls {
                    function: "operator+(A, B)".into(),
                    module: "lib.so".into(),
                    count: 0,
                },
            ],
            faults: 1,
            instructions: 2,
            translated: 11,
            translation: 12,
            translation_tables: 13,
            translations: 14,
            on_host: vec![
                (
                    Cause::Early,
                    Calls {
                        function: "f".into(),
                        module: "m".into(),
                        count: 3,
                    },
                ),
                (Cause::Off, Calls::default()),
            ],
            migrations: vec![Migrations {
                count: 15,
                threads: 16,
                cost: u64::MAX,
                instruction: "sh3add (zba)".into(),
                place: "a\tb.c:4".into(),
            }],
            files: vec!["/a b/\tc".into(), "libx.so".into()],
            threads: 4,
            region_size: 5,
            heap_peak: 6,
            heap_live: 7,
            stack_peak: 8,
            elapsed: 9,
            user: 10,
            system: u64::MAX,
            trace_lost: Some("no room\n".into()),
            card: Some(crate::card::Card::default()),
            timed: Some(crate::timed_record::tests::full()),
        }
    }

    #[test]
    fn round_trip() {
        let text = full().to_record() + &Summary::default().to_record();
        assert_eq!(parse(&text), Ok(vec![full(), Summary::default()]));
        assert_eq!(parse(""), Ok(vec![]));
    }

    #[test]
    fn later_keys_are_skipped() {
        let text = full()
            .to_record()
            .replace("end\n", "of-the-future 1 2 3\nend\n");
        assert_eq!(parse(&text), Ok(vec![full()]));
    }

    #[test]
    fn every_truncation_is_an_error() {
        let text = full().to_record();
        for at in 1..text.len() {
            if text.is_char_boundary(at) {
                assert!(parse(&text[..at]).is_err(), "cut at {at}");
            }
        }
    }

    #[test]
    fn damage_is_named() {
        assert_eq!(parse("hello\n"), Err(ParseError::NotARecord(1)));
        assert_eq!(
            parse("flick-stats 2\nend\n"),
            Err(ParseError::Version(1, "2".into()))
        );
        assert_eq!(parse("flick-stats 1\npid x\nend\n"), Err(bad(2, "pid")));
        assert_eq!(
            parse("flick-stats 1\n\nend\n"),
            Err(ParseError::NotARecord(2))
        );
        for (key, value) in [
            ("pid", "-1"),
            ("faults", "18446744073709551616"),
            ("trigger", "Gate"),
            ("offload", "off"),
            ("heap", "hosts"),
            ("program", "a\\q"),
            ("program", "a\\"),
            ("call", "host-to-nxp 1 f"),
            ("call", "host-to-nxp f\tm"),
            ("call", "sideways 1 f\tm"),
        ] {
            let text = format!("flick-stats 1\n{key} {value}\nend\n");
            assert_eq!(parse(&text), Err(bad(2, key)), "{text}");
        }
    }

    fn bad(line: usize, key: &str) -> ParseError {
        ParseError::BadValue(line, key.into())
    }

    /// Whatever one byte is changed to, the reader returns.
    #[test]
    fn no_byte_makes_it_panic() {
        let record = full().to_record();
        let text = record.as_bytes();
        for at in 0..text.len() {
            for byte in [0, b'\n', b' ', b'\t', b'\\', b'9', b'-', 0xff] {
                let mut damaged = text.to_vec();
                damaged[at] = byte;
                if let Ok(records) = parse(&String::from_utf8_lossy(&damaged)) {
                    assert!(records.len() <= 1);
                }
            }
        }
    }
}
