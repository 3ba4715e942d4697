//! `tests/strangers/exceptions.txt`: runs that differ, each by a stated rule. A program has a line:
//!
//! `PROGRAM | WHEN | RULE | REASON`
//!
//! - WHEN is `always`, or words that the run must have, at most one of each kind: a level (`O0`), a
//!   placement (`100`, `50`), an engine (`auto`, `translate`, `interp`). Words of a kind, joined by
//!   `,`, are alternatives.
//! - RULE is `undefined`, `unspecified` (C or C++ leave it open), `limit: TEXT` (docs/limits.md
//!   contains the text), or `refused: FLKnnnn` (docs/limits.md has the code, and the build prints
//!   it).
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::outcome::Which;
use super::stranger::Level;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    Undefined,
    Unspecified,
    Limit(String),
    Refused(String),
}

#[derive(Debug)]
struct Exception {
    line: usize,
    program: String,
    when: Vec<Vec<String>>,
    rule: Rule,
    reason: String,
}

#[derive(Debug, Default)]
pub struct Exceptions {
    all: Vec<Exception>,
    /// The number of runs that each exception has excused, and the levels at which its program was
    /// built and run.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    used: BTreeSet<usize>,
    levels: BTreeSet<(String, Level)>,
}

impl Exceptions {
    /// `limits`: the text of docs/limits.md.
    pub fn parse(text: &str, limits: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        // A sentence may be broken anywhere.
        let limits = words_of(limits);
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let exception = one(line, line_number, &limits)
                .map_err(|e| format!("exceptions, line {line_number}: {e}"))?;
            all.push(exception);
        }
        Ok(Self {
            all,
            seen: Mutex::default(),
        })
    }

    /// The reason why this run may differ. `code`: with which the build was refused.
    pub fn excuse(&self, which: Which, code: Option<&str>) -> Option<&str> {
        let found = self.all.iter().find(|e| {
            let fits = match (&e.rule, code) {
                (Rule::Refused(wanted), Some(code)) => wanted == code,
                (Rule::Refused(_), None) | (_, Some(_)) => false,
                (_, None) => true,
            };
            fits && e.program == which.program && e.covers(which)
        })?;
        self.lock().used.insert(found.line);
        Some(&found.reason)
    }

    /// The program was built with every placement at this level and run on every engine.
    pub fn was_run(&self, program: &str, level: Level) {
        if self.all.iter().any(|e| e.program == program) {
            self.lock().levels.insert((program.to_owned(), level));
        }
    }

    /// A line for each exception whose runs have all been made, and nothing differed.
    pub fn stale(&self) -> Vec<String> {
        let seen = self.lock();
        let unused = self.all.iter().filter(|e| {
            let levels = Level::ALL.into_iter().filter(|l| e.names_level(*l));
            let mut ran = levels.map(|l| seen.levels.contains(&(e.program.clone(), l)));
            !seen.used.contains(&e.line) && ran.all(|r| r)
        });
        unused
            .map(|e| format!("line {}: {} does not differ any more", e.line, e.program))
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const LEVELS: [&str; 3] = ["O0", "O2", "Os"];
const PLACEMENTS: [&str; 2] = ["100", "50"];
const ENGINES: [&str; 3] = ["auto", "translate", "interp"];

impl Exception {
    fn covers(&self, which: Which) -> bool {
        let words = [which.level.word(), which.placement.word()];
        self.when.iter().all(|alternatives| {
            let named = |word: &str| alternatives.iter().any(|a| a == word);
            words.iter().any(|w| named(w)) || which.engine.is_some_and(|e| named(e.word()))
        })
    }

    fn names_level(&self, level: Level) -> bool {
        let mut lists = self.when.iter();
        let about = lists.find(|list| list.iter().any(|w| LEVELS.contains(&w.as_str())));
        about.is_none_or(|list| list.iter().any(|w| w == level.word()))
    }
}

fn one(line: &str, number: usize, limits: &str) -> Result<Exception, String> {
    let fields: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let [program, when, rule, reason] = fields[..] else {
        return Err("expected PROGRAM | WHEN | RULE | REASON".into());
    };
    if reason.is_empty() {
        return Err("the reason is missing".into());
    }
    let when: Vec<Vec<String>> = match when {
        "always" => Vec::new(),
        words => words
            .split_whitespace()
            .map(|list| list.split(',').map(String::from).collect())
            .collect(),
    };
    for list in &when {
        let kinds = [&LEVELS[..], &PLACEMENTS[..], &ENGINES[..]];
        let of_one = |kind: &&[&str]| list.iter().all(|w| kind.contains(&w.as_str()));
        if !kinds.iter().any(of_one) {
            return Err(format!("'{}' is no condition", list.join(",")));
        }
    }
    let rule = match rule.split_once(": ") {
        None if rule == "undefined" => Rule::Undefined,
        None if rule == "unspecified" => Rule::Unspecified,
        Some(("limit", text)) if limits.contains(&words_of(text)) => Rule::Limit(text.into()),
        Some(("limit", text)) => return Err(format!("docs/limits.md does not say '{text}'")),
        Some(("refused", code)) if limits.contains(code) => Rule::Refused(code.into()),
        Some(("refused", code)) => return Err(format!("docs/limits.md does not name {code}")),
        _ => return Err(format!("'{rule}' is no rule")),
    };
    Ok(Exception {
        line: number,
        program: program.into(),
        when,
        rule,
        reason: reason.into(),
    })
}

fn words_of(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strangers::outcome::{Engine, Placement};

    const LIMITS: &str = "a shift by the\nwidth or more; refused (FLK0202)";

    fn which(program: &str, level: Level, engine: Engine) -> Which<'_> {
        Which {
            program,
            level,
            placement: Placement::All,
            engine: Some(engine),
        }
    }

    #[test]
    fn an_exception_is_for_its_runs_only() {
        let text = "# why\na/b | O2,Os interp | limit: by the width | it shifts by 32\n\
                    c | always | refused: FLK0202 | has assembly\n";
        let exceptions = Exceptions::parse(text, LIMITS).unwrap();
        let excuse = |w, code| exceptions.excuse(w, code).is_some();
        assert!(excuse(which("a/b", Level::Os, Engine::Interp), None));
        assert!(!excuse(which("a/b", Level::O0, Engine::Interp), None));
        assert!(!excuse(which("a/b", Level::O2, Engine::Auto), None));
        assert!(!excuse(which("c", Level::O2, Engine::Auto), None));
        assert!(excuse(which("c", Level::O2, Engine::Auto), Some("FLK0202")));
        assert!(!excuse(
            which("c", Level::O2, Engine::Auto),
            Some("FLK0103")
        ));
    }

    #[test]
    fn what_no_longer_differs_is_stale() {
        let text = "p | O0 | undefined | x\nq | always | unspecified | x\nr | O2 | undefined | x\n";
        let exceptions = Exceptions::parse(text, LIMITS).unwrap();
        exceptions.was_run("p", Level::O0);
        exceptions.was_run("q", Level::O0);
        exceptions.was_run("r", Level::O2);
        assert!(
            exceptions
                .excuse(which("r", Level::O2, Engine::Auto), None)
                .is_some()
        );
        // Of q two levels are missing.
        assert_eq!(exceptions.stale(), ["line 1: p does not differ any more"]);
    }

    #[test]
    fn rules_are_those_of_the_documents() {
        for (line, why) in [
            (
                "p | always | limit: moon phases | x",
                "does not say 'moon phases'",
            ),
            ("p | always | refused: FLK0103 | x", "does not name FLK0103"),
            ("p | always | luck | x", "'luck' is no rule"),
            (
                "p | O0,interp | undefined | x",
                "'O0,interp' is no condition",
            ),
            ("p | always | undefined", "expected PROGRAM"),
        ] {
            let error = Exceptions::parse(line, LIMITS).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
