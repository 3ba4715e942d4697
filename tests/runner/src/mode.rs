//! The ways in which every program is built and run.
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    Gate,
    Fault,
}

/// The engine that executes NxP code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Code that the link has translated.
    Ahead,
    /// Code that is translated at run time.
    Translate,
    Interp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Pie,
    NoPie,
    Static,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linker {
    Bfd,
    Lld,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opt {
    O0,
    O2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub trigger: Trigger,
    pub engine: Engine,
    pub link: Link,
    pub linker: Linker,
    pub opt: Opt,
}

const WORDS: [&str; 12] = [
    "gate",
    "fault",
    "ahead",
    "translate",
    "interp",
    "pie",
    "no-pie",
    "static",
    "bfd",
    "lld",
    "O0",
    "O2",
];

impl Trigger {
    pub fn word(self) -> &'static str {
        match self {
            Trigger::Gate => "gate",
            Trigger::Fault => "fault",
        }
    }
}

impl Engine {
    pub fn word(self) -> &'static str {
        match self {
            Engine::Ahead => "ahead",
            Engine::Translate => "translate",
            Engine::Interp => "interp",
        }
    }

    /// The value of `--flick-translate`.
    pub fn translate(self) -> &'static str {
        match self {
            Engine::Translate => "run",
            Engine::Ahead | Engine::Interp => "link",
        }
    }
}

impl Link {
    pub fn word(self) -> &'static str {
        match self {
            Link::Pie => "pie",
            Link::NoPie => "no-pie",
            Link::Static => "static",
        }
    }
}

impl Linker {
    pub fn word(self) -> &'static str {
        match self {
            Linker::Bfd => "bfd",
            Linker::Lld => "lld",
        }
    }
}

impl Opt {
    pub const ALL: [Opt; 2] = [Opt::O0, Opt::O2];

    pub fn word(self) -> &'static str {
        match self {
            Opt::O0 => "O0",
            Opt::O2 => "O2",
        }
    }
}

impl Mode {
    /// The mode of `--quick`.
    pub const QUICK: Mode = Mode {
        trigger: Trigger::Gate,
        engine: Engine::Ahead,
        link: Link::Pie,
        linker: Linker::Lld,
        opt: Opt::O2,
    };

    /// [`Mode::QUICK`] if it is allowed, else the first mode that is.
    pub fn quickest(allowed: &[Mode]) -> Option<Mode> {
        let quick = allowed.iter().copied().find(|&m| m == Self::QUICK);
        quick.or(allowed.first().copied())
    }

    pub fn words(self) -> [&'static str; 5] {
        [
            self.trigger.word(),
            self.engine.word(),
            self.link.word(),
            self.linker.word(),
            self.opt.word(),
        ]
    }

    pub fn has_word(self, word: &str) -> bool {
        self.words().contains(&word)
    }

    pub fn is_word(word: &str) -> bool {
        WORDS.contains(&word)
    }

    /// The full product.
    pub fn all() -> Vec<Mode> {
        let mut modes = Vec::new();
        for link in [Link::Pie, Link::NoPie, Link::Static] {
            for linker in [Linker::Bfd, Linker::Lld] {
                for opt in Opt::ALL {
                    for trigger in [Trigger::Gate, Trigger::Fault] {
                        let engines = [Engine::Ahead, Engine::Translate, Engine::Interp];
                        modes.extend(engines.map(|engine| Mode {
                            trigger,
                            engine,
                            link,
                            linker,
                            opt,
                        }));
                    }
                }
            }
        }
        modes
    }

    /// Every pair of values of two different dimensions that this mode contains.
    fn pairs(self) -> Vec<[&'static str; 2]> {
        let words = self.words();
        let mut pairs = Vec::new();
        for (i, &a) in words.iter().enumerate() {
            pairs.extend(words[i + 1..].iter().map(|&b| [a, b]));
        }
        pairs
    }

    /// A small subset of `allowed` in which every pair of values that `allowed` contains occurs:
    /// greedy, the mode with the most uncovered pairs first; ties by position, so the choice is
    /// reproducible.
    pub fn pairwise(allowed: &[Mode]) -> Vec<Mode> {
        let mut open: Vec<[&str; 2]> = Vec::new();
        for pair in allowed.iter().flat_map(|m| m.pairs()) {
            if !open.contains(&pair) {
                open.push(pair);
            }
        }
        let mut chosen = Vec::new();
        while !open.is_empty() {
            let gain = |m: &Mode| m.pairs().iter().filter(|p| open.contains(p)).count();
            let best = allowed.iter().rev().max_by_key(|m| gain(m));
            let Some(&best) = best else { break };
            open.retain(|p| !best.pairs().contains(p));
            chosen.push(best);
        }
        chosen
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs_of(modes: &[Mode]) -> Vec<[&'static str; 2]> {
        let mut pairs: Vec<_> = modes.iter().flat_map(|m| m.pairs()).collect();
        pairs.sort();
        pairs.dedup();
        pairs
    }

    #[test]
    fn product_has_72_modes() {
        assert_eq!(Mode::all().len(), 72);
    }

    #[test]
    fn pairwise_covers_every_pair_with_few_modes() {
        let all = Mode::all();
        let chosen = Mode::pairwise(&all);
        assert_eq!(pairs_of(&chosen), pairs_of(&all));
        assert!(chosen.len() <= 9, "{} modes", chosen.len());
    }

    #[test]
    fn pairwise_covers_what_a_program_without_static_links_can() {
        let allowed: Vec<Mode> = Mode::all()
            .into_iter()
            .filter(|m| m.link != Link::Static)
            .collect();
        let chosen = Mode::pairwise(&allowed);
        assert_eq!(pairs_of(&chosen), pairs_of(&allowed));
        assert!(chosen.len() <= 8, "{} modes", chosen.len());
    }
}
