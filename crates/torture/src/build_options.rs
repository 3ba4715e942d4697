//! How a program is compiled and linked, the same for both builds.
use crate::draw::Draw;

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// `O0`, `Os`, ….
    pub level: &'static str,
    pub link: Link,
    /// `None`: the compiler's own.
    pub linker: Option<Linker>,
    /// All units but the first go into a shared library.
    pub shared: bool,
    pub debug: bool,
}

impl Options {
    /// What a failure is reduced to.
    pub const PLAIN: Self = Self {
        level: "O0",
        link: Link::Pie,
        linker: None,
        shared: false,
        debug: false,
    };

    pub fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed, "options");
        let link = draw.weighted(&[(50, Link::Pie), (25, Link::NoPie), (25, Link::Static)]);
        Self {
            level: draw.weighted(&[(25, "O0"), (20, "O1"), (30, "O2"), (15, "O3"), (10, "Os")]),
            link,
            linker: draw.weighted(&[(20, None), (40, Some(Linker::Bfd)), (40, Some(Linker::Lld))]),
            shared: link != Link::Static && draw.chance(50),
            debug: draw.chance(20),
        }
    }

    /// The same, less a static link.
    pub fn without_static(self) -> Self {
        match self.link {
            Link::Static => Self {
                link: Link::NoPie,
                ..self
            },
            _ => self,
        }
    }

    pub fn compile_words(&self) -> Vec<String> {
        let mut words = vec![format!("-{}", self.level)];
        if self.debug {
            words.push("-g".into());
        }
        words.push(
            match self.link {
                Link::Pie => "-fPIE",
                Link::NoPie | Link::Static => "-fno-pie",
            }
            .into(),
        );
        words
    }

    /// Of a library whose link is not the program's.
    pub fn library_words(&self) -> Vec<String> {
        let mut words = vec![format!("-{}", self.level), "-fPIC".into(), "-shared".into()];
        words.extend(self.linker_word());
        words
    }

    pub fn link_words(&self) -> Vec<String> {
        let mut words = vec![
            match self.link {
                Link::Pie => "-pie",
                Link::NoPie => "-no-pie",
                Link::Static => "-static",
            }
            .to_owned(),
        ];
        words.extend(self.linker_word());
        words
    }

    fn linker_word(&self) -> Option<String> {
        self.linker.map(|linker| {
            match linker {
                Linker::Bfd => "-fuse-ld=bfd",
                Linker::Lld => "-fuse-ld=lld",
            }
            .to_owned()
        })
    }

    /// One step towards [`Options::PLAIN`] each.
    pub fn simpler(&self) -> Vec<Self> {
        let plain = Self::PLAIN;
        let mut all = vec![
            Self {
                shared: plain.shared,
                ..self.clone()
            },
            Self {
                link: plain.link,
                ..self.clone()
            },
            Self {
                linker: plain.linker,
                ..self.clone()
            },
            Self {
                debug: plain.debug,
                ..self.clone()
            },
            Self {
                level: plain.level,
                ..self.clone()
            },
            Self {
                level: "O1",
                ..self.clone()
            },
        ];
        if matches!(self.level, "O0" | "O1") {
            all.pop();
        }
        all.retain(|options| options != self);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_at_the_plain_ones() {
        for seed in 0..50 {
            let mut options = Options::draw(seed);
            for _ in 0..10 {
                match options.simpler().pop() {
                    Some(simpler) => options = simpler,
                    None => break,
                }
            }
            assert_eq!(options, Options::PLAIN);
        }
    }
}
