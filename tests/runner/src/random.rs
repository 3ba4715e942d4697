//! Random placement: which functions a throw of the dice chooses, and how many of them were really
//! placed.
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use flick_abi::names::SEC_PLACE;
use object::{Object, ObjectSection};

use crate::program::sorted_entries;

/// `--flick-place=random:SEED:PERCENT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice {
    pub seed: u64,
    pub percent: u64,
}

impl Dice {
    /// Every function; the seed means nothing then.
    pub const ALL: Self = Self {
        seed: 0,
        percent: 100,
    };

    /// The names that it chooses. The choice is a contract of docs/placement.md, and every build is
    /// checked against it.
    pub fn among(self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let chosen = |name: &&String| {
            let text = format!("{name}:{}", self.seed);
            xxhash_rust::xxh3::xxh3_64(text.as_bytes()) % 100 < self.percent
        };
        names.iter().filter(chosen).cloned().collect()
    }
}

impl fmt::Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}, {} %", self.seed, self.percent)
    }
}

/// The placement lines of a built program and of the shared libraries beside it.
pub fn lines(program: &Path) -> Result<String, String> {
    let mut files = vec![program.to_owned()];
    let folder = program.parent().unwrap_or(Path::new("."));
    files.extend(
        sorted_entries(folder)?
            .into_iter()
            .filter(|p| p.extension().is_some_and(|e| e == "so")),
    );
    let mut text = String::new();
    for file in files {
        let bytes = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let lines = section_text(&bytes).map_err(|e| format!("{}: {e}", file.display()))?;
        text.push_str(&lines);
        text.push('\n');
    }
    Ok(text)
}

/// The functions that the dice chose, placed or not.
pub fn chosen(lines: &str) -> BTreeSet<String> {
    asked(lines).map(|(name, _)| name.to_owned()).collect()
}

/// `v1 unit function placement reason detail file line`, separated by tabs; a function that the
/// dice chose has reason `random`, or `refused:…` when it had to stay on the host. It is on both
/// sides where each caller needs its own copy. Its name, and whether it was placed.
fn asked(lines: &str) -> impl Iterator<Item = (&str, bool)> {
    lines.split(['\n', '\0']).filter_map(|line| {
        let mut fields = line.split('\t').skip(2);
        let name = fields.next()?;
        match (fields.next()?, fields.next()?) {
            ("nxp" | "both", "random") => Some((name, true)),
            ("host", reason) if reason.starts_with("refused:") => Some((name, false)),
            _ => None,
        }
    })
}

/// The functions that the dice chose and that had to stay on the host, with the codes of their
/// reasons.
pub fn refused(lines: &str) -> impl Iterator<Item = (&str, &str)> {
    lines.split(['\n', '\0']).filter_map(|line| {
        let mut fields = line.split('\t').skip(2);
        let (name, place) = (fields.next()?, fields.next()?);
        let code = fields.next()?.strip_prefix("refused:")?;
        (place == "host").then_some((name, code))
    })
}

/// One number per build: placed functions / functions that the dice chose.
#[derive(Default)]
pub struct Shares {
    seen: Mutex<Vec<f64>>,
}

impl Shares {
    /// From the placement lines of a build. One whose dice chose nothing adds nothing.
    pub fn add(&self, lines: &str) {
        if let Some(share) = share_of(lines) {
            self.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(share);
        }
    }

    /// Builds counted, and their median share.
    pub fn median(&self) -> Option<(usize, f64)> {
        let mut shares = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        shares.sort_by(f64::total_cmp);
        let n = shares.len();
        match n {
            0 => None,
            _ if n % 2 == 1 => Some((n, shares[n / 2])),
            _ => Some((n, f64::midpoint(shares[n / 2 - 1], shares[n / 2]))),
        }
    }
}

fn section_text(bytes: &[u8]) -> Result<String, String> {
    let file = object::File::parse(bytes).map_err(|e| e.to_string())?;
    let Some(section) = file.section_by_name(SEC_PLACE) else {
        return Ok(String::new());
    };
    let data = section.uncompressed_data().map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&data).into_owned())
}

fn share_of(lines: &str) -> Option<f64> {
    let (mut placed, mut chosen) = (0u32, 0u32);
    for (_, was_placed) in asked(lines) {
        placed += u32::from(was_placed);
        chosen += 1;
    }
    (chosen > 0).then(|| f64::from(placed) / f64::from(chosen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_placed_and_refused() {
        let text = "v1\tu\tf\tnxp\trandom\t\ta.c\t1\nv1\tu\tg\thost\trefused:FLK0204\t\ta.c\t2\n\
                    v1\tu\th\tboth\tinline\t\ta.c\t3\nv1\tu\tk\tboth\trandom\t\ta.c\t4\n\
                    v1\tu\tl\thost\trefused:FLK0204\t\ta.c\t5\n";
        assert_eq!(share_of(text), Some(0.5));
        assert_eq!(chosen(text), ["f", "g", "k", "l"].map(String::from).into());
        let codes: Vec<_> = refused(text).collect();
        assert_eq!(codes, [("g", "FLK0204"), ("l", "FLK0204")]);
        assert_eq!(share_of(""), None);
    }

    #[test]
    fn dice_choose_by_name_and_seed() {
        let names: BTreeSet<String> = (0..1000).map(|i| format!("f{i}")).collect();
        let half = |seed| Dice { seed, percent: 50 }.among(&names);
        assert!((400..600).contains(&half(1).len()));
        assert_ne!(half(1), half(2));
        assert_eq!(half(1), half(1));
        assert_eq!(Dice::ALL.among(&names), names);
    }

    #[test]
    fn median_of_shares() {
        let shares = Shares::default();
        shares.seen.lock().unwrap().extend([1.0, 0.0, 0.5, 0.25]);
        assert_eq!(shares.median(), Some((4, 0.375)));
    }
}
