//! Placement lines: section `.flick.place` (`docs/objects.md`).
use flick_abi::names::SEC_PLACE;
use flick_diagnostics::Code;
use object::{Object, ObjectSection};

use crate::{Error, Result};

/// Where one function of a unit went, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The unit's source file, as the compiler had it.
    pub unit: String,
    /// The linker's name of the function.
    pub function: String,
    /// `nxp`, `both` or `host`.
    pub placement: String,
    /// Why it went there.
    pub reason: Reason,
    /// What the compiler adds to the reason; often empty.
    pub detail: String,
    /// The source file of the function; empty if unknown.
    pub file: String,
    /// The line in `file`; 0 if unknown.
    pub line: u32,
}

/// Why a function went where it is (`docs/objects.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A mark in the source.
    Mark,
    /// A placement-file entry that names it exactly; `FILE:LINE`.
    Name(String),
    /// A pattern of a placement file; `FILE:LINE`.
    Glob(String),
    /// A draw of `--flick-place=random:`.
    Random,
    /// An inline function that placed code calls.
    Inline,
    /// A small function that placed code calls, and that calls nothing on the host.
    Leaf,
    /// Chosen, but it cannot be placed; the error's code.
    Refused(String),
    /// From a later version of the same format.
    Other(String),
}

impl Reason {
    fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some(("name", entry)) => Self::Name(entry.into()),
            Some(("glob", entry)) => Self::Glob(entry.into()),
            Some(("refused", code)) => Self::Refused(code.into()),
            _ => match text {
                "mark" => Self::Mark,
                "random" => Self::Random,
                "inline" => Self::Inline,
                "leaf" => Self::Leaf,
                _ => Self::Other(text.into()),
            },
        }
    }
}

impl Placed {
    /// The reason for people, with the compiler's detail.
    pub fn why(&self) -> String {
        let reason = match &self.reason {
            Reason::Mark => "marked in the source".into(),
            Reason::Name(entry) => format!("named at {entry}"),
            Reason::Glob(entry) => format!("matches the pattern at {entry}"),
            Reason::Random => "chosen by --flick-place=random".into(),
            Reason::Inline => "inline, and NxP code calls it".into(),
            Reason::Leaf => "small, calls nothing on the host, and NxP code calls it".into(),
            Reason::Refused(code) => format!("cannot be placed [{code}]"),
            Reason::Other(text) => text.clone(),
        };
        if self.detail.is_empty() {
            reason
        } else {
            format!("{reason}: {}", self.detail)
        }
    }
}

/// A line of this one word says that a placement file is for several programs and libraries.
pub const PROJECT: &str = "project";

/// Line numbers and texts of the lines of a placement file that say something.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    (1..).zip(lines).filter(|(_, line)| !line.is_empty())
}

/// A line of this one word says that the file decides about marked functions, too.
pub const OVERRIDE: &str = "override";

/// Line numbers and texts of the entries of a placement file.
pub fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter(|&(_, line)| line != PROJECT && line != OVERRIDE)
}

/// Whether a placement file is for several programs and libraries.
pub fn is_project(text: &str) -> bool {
    lines(text).any(|(_, line)| line == PROJECT)
}

/// How a line begins: `v` and the format's number.
fn is_version(field: &str) -> bool {
    let number = field.strip_prefix('v');
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) && field != "v1")
}

fn other_version(version: &str) -> Error {
    Error::new(
        Code::OtherVersion,
        "made by another version of Flick",
        "",
        format!("its placement lines are {version}, this flick reads v1"),
        "use the Flick that made it, or build it again with this one",
    )
}

/// All that a file's section says.
///
/// ```
/// use flick_image::Placements;
/// use flick_image::place_lines::Reason;
///
/// let section = b"v1\tsum.c\tsum\tnxp\tname:sum.place:3\t\tsum.c\t7\n";
/// let placements = Placements::parse(section)?;
/// assert_eq!(placements.functions[0].function, "sum");
/// assert_eq!(placements.functions[0].reason, Reason::Name("sum.place:3".into()));
/// # Ok::<(), flick_image::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placements {
    /// One for each function of each unit.
    pub functions: Vec<Placed>,
    /// Declarations that are marked; the mark is the reason.
    pub expected: Vec<Placed>,
    /// Placement-file entries that matched something, as `FILE:LINE`.
    pub matched: Vec<String>,
}

impl Placements {
    /// Parses a section's contents. FLK0308 where a line is not understood.
    pub fn parse(section: &[u8]) -> Result<Self> {
        let mut all = Self::default();
        // Linkers may put zeros between the parts of a section.
        for line in section
            .split(|byte| matches!(byte, b'\n' | 0))
            .filter(|line| !line.is_empty())
        {
            let line = String::from_utf8_lossy(line);
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[..] {
                ["v1", _, "-", "match", entry] => all.matched.push(entry.into()),
                [
                    "v1",
                    unit,
                    function,
                    placement,
                    reason,
                    detail,
                    file,
                    number,
                ] => {
                    let list = if placement == "expect" {
                        &mut all.expected
                    } else {
                        &mut all.functions
                    };
                    list.push(Placed {
                        unit: unit.into(),
                        function: function.into(),
                        placement: placement.into(),
                        reason: Reason::parse(reason),
                        detail: detail.into(),
                        file: file.into(),
                        line: number.parse().map_err(|_| corrupted(&line))?,
                    });
                }
                [version, ..] if is_version(version) => return Err(other_version(version)),
                _ => return Err(corrupted(&line)),
            }
        }
        Ok(all)
    }

    /// Of an object, library or program; empty if it has no such section.
    pub fn of_file(file: &object::File) -> Result<Self> {
        let Some(section) = file.section_by_name(SEC_PLACE) else {
            return Ok(Self::default());
        };
        let data = section.data().map_err(|e| corrupted(&e.to_string()))?;
        Self::parse(data)
    }
}

fn corrupted(line: &str) -> Error {
    Error::new(
        Code::CorruptedImage,
        "the image in this file is corrupted",
        "",
        format!("a placement line is not understood: {line:?}"),
        "build it again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_and_matches() {
        let text = b"v1\ta.c\tf\tnxp\tglob:p.txt:3\t\ta.c\t7\n\0\0v1\ta.c\t-\tmatch\tp.txt:3\n\
                     v1\ta.c\tg\thost\trefused:FLK0202\tinline assembly\ta.c\t9\n";
        let all = Placements::parse(text).unwrap();
        assert_eq!(all.matched, ["p.txt:3"]);
        assert_eq!(all.functions[0].reason, Reason::Glob("p.txt:3".into()));
        assert_eq!(all.functions[1].reason, Reason::Refused("FLK0202".into()));
        assert_eq!(
            (all.functions[1].detail.as_str(), all.functions[1].line),
            ("inline assembly", 9)
        );
    }

    #[test]
    fn refuses_garbage() {
        for (bad, code) in [
            ("v2\ta\n", Code::OtherVersion),
            (
                "v1\ta.c\tf\tnxp\tmark\t\ta.c\tseven\n",
                Code::CorruptedImage,
            ),
            ("v1\ta\n", Code::CorruptedImage),
            ("version\ta\n", Code::CorruptedImage),
            ("hello", Code::CorruptedImage),
        ] {
            let error = Placements::parse(bad.as_bytes()).unwrap_err();
            assert_eq!(error.code, code, "{bad}");
        }
    }
}
