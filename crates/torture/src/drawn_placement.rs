//! Placements that are drawn for a build.
use std::fmt;

use crate::draw::Draw;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// `--flick-place=random:SEED:PERCENT`
    Random { seed: u64, percent: u64 },
    /// A placement file with these entries.
    List(Vec<Entry>),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub side: Side,
    /// A function's name, or a pattern with `*`.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Nxp,
    Both,
}

/// The name of the placement file, beside the sources.
pub const FILE: &str = "place.txt";

impl Placement {
    /// The `round`th placement of a case; `names` are the functions that a file may name, if known.
    pub fn draw(seed: u64, round: usize, names: &[String]) -> Self {
        let mut draw = Draw::new(seed, &format!("placement {round}"));
        let percent = draw.pick(&[5, 10, 25, 50, 50, 75, 90, 100]);
        if names.is_empty() || draw.chance(60) {
            return Self::Random {
                seed: draw.below(1_000_000) as u64,
                percent: percent as u64,
            };
        }
        let mut entries = Vec::new();
        for name in names {
            if draw.chance(percent) {
                let side = draw.weighted(&[(85, Side::Nxp), (15, Side::Both)]);
                entries.push(Entry {
                    side,
                    name: name.clone(),
                });
            }
        }
        Self::List(entries)
    }

    /// Flick's word for it; `folder` is where the file is, with a slash, or empty.
    pub fn word(&self, folder: &str) -> String {
        match self {
            Self::Random { .. } => format!("--flick-place={self}"),
            Self::List(_) => format!("--flick-place={folder}{FILE}"),
        }
    }

    /// The placement file's text. Names are patterns that match nothing else: what cannot be placed
    /// then stays on the host, where an exact name would be an error.
    pub fn file(&self) -> Option<String> {
        let Self::List(entries) = self else {
            return None;
        };
        let mut text = String::from("project\n");
        for Entry { side, name } in entries {
            let side = match side {
                Side::Nxp => "nxp",
                Side::Both => "both",
            };
            text += &format!("{side} {}\n", pattern(name));
        }
        Some(text)
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random { seed, percent } => write!(f, "random:{seed}:{percent}"),
            Self::List(entries) => match entries.len() {
                1 => write!(f, "{FILE} (1 entry)"),
                count => write!(f, "{FILE} ({count} entries)"),
            },
        }
    }
}

fn pattern(name: &str) -> String {
    let mut rest = name.chars();
    match rest.next() {
        Some(first) if !name.contains('*') => format!("[{first}]{}", rest.as_str()),
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_functions_by_patterns() {
        let entry = |side, name: &str| Entry {
            side,
            name: name.into(),
        };
        let list = Placement::List(vec![
            entry(Side::Nxp, "sv3"),
            entry(Side::Both, "Tracked::*"),
        ]);
        assert_eq!(
            list.file().unwrap(),
            "project\nnxp [s]v3\nboth Tracked::*\n"
        );
        assert_eq!(list.word(""), "--flick-place=place.txt");
    }

    #[test]
    fn same_seed_same_placement() {
        let names = ["a".to_owned(), "b".into(), "c".into()];
        let all = |names: &[String]| -> Vec<Placement> {
            (0..200)
                .map(|seed| Placement::draw(seed, 1, names))
                .collect()
        };
        assert_eq!(all(&names), all(&names));
        let lists = |p: &&Placement| matches!(p, Placement::List(_));
        assert!(all(&names).iter().filter(lists).count() > 40);
        assert_eq!(all(&[]).iter().filter(lists).count(), 0);
    }
}
