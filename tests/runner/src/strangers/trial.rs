//! Flick's builds of one program at one level, their runs, and what differs from plain clang's.
use std::collections::BTreeSet;
use std::path::Path;

use flick_exec::Finished;

use super::cell::{Bench, NATIVE, Plain, same};
use super::making::{self, Failed, Made};
use super::outcome::{Compared, Difference, Engine, Placement, Which};
use super::report;
use super::running::run;
use super::stranger::{Level, Stranger};
use crate::build::Compiler;
use crate::random::{self, Dice};

pub struct Trial<'a> {
    bench: &'a Bench<'a>,
    stranger: &'a Stranger,
    level: Level,
    dir: &'a Path,
    plain: &'a Plain,
    compared: Compared,
}

impl<'a> Trial<'a> {
    pub fn new(
        bench: &'a Bench,
        stranger: &'a Stranger,
        level: Level,
        dir: &'a Path,
        plain: &'a Plain,
    ) -> Self {
        Self {
            bench,
            stranger,
            level,
            dir,
            plain,
            compared: Compared::default(),
        }
    }

    pub fn finish(mut self) -> Compared {
        let Some(made) = self.build(Placement::All, Dice::ALL) else {
            return self.compared;
        };
        let names = match random::lines(&made.program) {
            Ok(lines) => self.count(&lines),
            Err(why) => {
                self.differs(self.which(Placement::All, None), why);
                return self.compared;
            }
        };
        self.runs(Placement::All, &made);
        // The first throw that leaves functions on both sides.
        let throws = (1..=64).map(|seed| Dice { seed, percent: 50 });
        let mut throws = throws.filter(|dice| {
            let half = dice.among(&names).len();
            0 < half && half < names.len()
        });
        match throws.next() {
            None => self.compared.one_function = true,
            Some(dice) => {
                if let Some(made) = self.build(Placement::Half, dice) {
                    self.runs(Placement::Half, &made);
                }
            }
        }
        self.compared
    }

    fn which(&self, placement: Placement, engine: Option<Engine>) -> Which<'a> {
        Which {
            program: &self.stranger.name,
            level: self.level,
            placement,
            engine,
        }
    }

    fn differs(&mut self, which: Which, report: String) {
        self.compared
            .differences
            .push(Difference::new(which, report));
    }

    /// Counts what was placed; the names of the functions that dice choose among.
    fn count(&mut self, lines: &str) -> BTreeSet<String> {
        let names = random::chosen(lines);
        self.compared.chosen = names.len();
        for (_, code) in random::refused(lines) {
            *self.compared.kept.entry(code.to_owned()).or_default() += 1;
        }
        names
    }

    fn build(&mut self, placement: Placement, dice: Dice) -> Option<Made> {
        let setup = self.bench.setup;
        let place = format!("--flick-place=random:{}:{}", dice.seed, dice.percent);
        let flick = Compiler::flick(&setup.flick_cc, vec![place]);
        let dir = self.dir.join(placement.word());
        let without = &self.plain.without;
        let Failed { commands, text } =
            match making::make(self.stranger, self.level, &flick, without, &dir, setup) {
                Ok(made) => return Some(made),
                Err(failed) => failed,
            };
        self.compared.runs += 1;
        let which = self.which(placement, None);
        let code = report::code_in(&text);
        if let Some(code) = code.filter(|code| self.bench.codes.iter().any(|c| c == code)) {
            self.compared.refused.push(code.into());
        } else if let Some(reason) = self.bench.exceptions.excuse(which, code) {
            let excused = (which.to_string(), reason.to_owned());
            self.compared.excused.push(excused);
        } else {
            let commands = commands.join("\n");
            self.differs(which, format!("does not build\n{commands}\n{text}"));
        }
        None
    }

    fn runs(&mut self, placement: Placement, made: &Made) {
        let want = &self.plain.done.finished;
        let mut differing: Vec<(Finished, Difference)> = Vec::new();
        for engine in Engine::ALL {
            if want.cpu > engine.patience() {
                self.compared.not_everywhere = true;
                continue;
            }
            let which = self.which(placement, Some(engine));
            let mut env = vec![("FLICK_OFFLOAD".to_owned(), "require".to_owned())];
            if engine != Engine::Auto {
                env.push(("FLICK_ENGINE".into(), engine.word().into()));
            }
            // Of programs that take next to nothing, the start is what they take.
            let limit = NATIVE + (want.cpu.as_secs() + 1) * engine.factor();
            let done = match run(self.stranger, made, &self.dir.join("run"), &env, limit) {
                Ok(done) => done,
                Err(why) => {
                    self.differs(which, why);
                    continue;
                }
            };
            self.compared.runs += 1;
            if same(&done.finished, want) {
                if engine == Engine::Auto && placement == Placement::All {
                    self.compared.times = Some((want.cpu, done.finished.cpu));
                }
                continue;
            }
            if let Some(reason) = self.bench.exceptions.excuse(which, None) {
                let excused = (which.to_string(), reason.to_owned());
                self.compared.excused.push(excused);
                continue;
            }
            match differing
                .iter_mut()
                .find(|(one, _)| same(one, &done.finished))
            {
                Some((_, difference)) => difference.add(engine),
                None => {
                    let plain = (&self.plain.made, &self.plain.done);
                    let report = report::difference(plain, (made, &done));
                    let difference = Difference {
                        ends_otherwise: done.finished.status != want.status,
                        ..Difference::new(which, report)
                    };
                    differing.push((done.finished, difference));
                }
            }
        }
        let differences = differing.into_iter().map(|(_, difference)| difference);
        self.compared.differences.extend(differences);
    }
}
