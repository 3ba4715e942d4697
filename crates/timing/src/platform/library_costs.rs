//! The cost of code without instrumentation, by name and length (`platforms/library.toml`).
use std::collections::BTreeMap;

use toml::de::DeTable;

use super::quantity::TIME;
use super::toml_reader::{Error, Source, Table};

/// The cost of a call: cycles of the core that it runs on, cycles for each unit of its length, and
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// Cycles of a call, whatever its length.
    pub cycles: f64,
    /// Cycles a unit of length.
    pub each: f64,
    /// Femtoseconds a unit of length.
    pub time: u64,
    /// The cycles of a call and of a unit of its length where a host runs it, if they are others.
    pub on_host: Option<(f64, f64)>,
    /// The length is a `struct timespec *`, and its nanoseconds are the units.
    pub timespec: bool,
    /// The number of the argument that is the length, from 0. It serves calls from NxP code, which
    /// no compiler has instrumented.
    pub argument: Option<usize>,
}

/// The rules, by the linker's names of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    rules: BTreeMap<String, Rule>,
    /// Functions without a rule of their own.
    pub other: Rule,
}

impl Rule {
    /// What a call with a length costs on the host: cycles.
    pub fn host_cycles(&self, length: f64) -> f64 {
        let (cycles, each) = self.on_host.unwrap_or((self.cycles, self.each));
        cycles + each * length
    }

    /// The same on the NxP.
    pub fn nxp_cycles(&self, length: f64) -> f64 {
        self.cycles + self.each * length
    }
}

impl Library {
    /// The rules that every platform begins with.
    pub fn shipped() -> Self {
        static TEXT: &str = include_str!("../../../../platforms/library.toml");
        let source = Source::new("library.toml", TEXT, "docs/timing.md");
        let mut library = Self {
            rules: BTreeMap::new(),
            other: Rule::default(),
        };
        // A test reads the text, so there is no mistake in it. After a mistake, the rules before it
        // would hold.
        if let Ok(document) = DeTable::parse(TEXT) {
            let _ = library.add(Table::of_document(&source, &document));
        }
        library
    }

    /// Adds rules, which replace those of the same names; `other` is for functions that have none.
    pub(super) fn add(&mut self, mut table: Table<'_>) -> Result<(), Error> {
        for (name, table) in table.entries()? {
            let rule = rule(table)?;
            if name == "other" {
                self.other = rule;
            } else {
                self.rules.insert(name, rule);
            }
        }
        Ok(())
    }

    /// Adds what calls cost on the host, where that was measured: `[host.library]`.
    pub(super) fn add_host(&mut self, mut table: Table<'_>) -> Result<(), Error> {
        for (name, mut table) in table.entries()? {
            let cycles = table.number("cycles", CYCLES)?;
            let each = table.number_or("each", EACH, 0.0)?;
            table.end()?;
            let rule = self.rules.entry(name).or_insert(self.other);
            rule.on_host = Some((cycles, each));
        }
        Ok(())
    }

    /// The rule for the function of this name.
    pub fn rule(&self, name: &str) -> &Rule {
        self.rules.get(name).unwrap_or(&self.other)
    }
}

/// Of a call, and of a unit of its length.
const CYCLES: (f64, f64) = (0.0, 1e9);
const EACH: (f64, f64) = (0.0, 1e6);

fn rule(mut table: Table<'_>) -> Result<Rule, Error> {
    let rule = Rule {
        cycles: table.number_or("cycles", CYCLES, 0.0)?,
        each: table.number_or("each", EACH, 0.0)?,
        time: table.quantity_or("time", &TIME, 0.0)? as u64,
        timespec: table.choice_or("length", &["number", "timespec"], 0)? == 1,
        argument: match table.has("argument") {
            true => Some(table.count("argument", (0, 7))? as usize),
            false => None,
        },
        on_host: None,
    };
    table.end()?;
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_rules_can_be_read() {
        let library = Library::shipped();
        assert!(library.rules.len() > 20);
        assert!(library.other.cycles > 0.0);
        assert_eq!(library.rule("usleep").time, 1_000_000_000);
        assert_eq!(library.rule("no such function"), &library.other);
    }

    #[test]
    fn calls_may_cost_a_host_something_else() {
        let platform = |more: &str| {
            let text = format!(
                "include = [\"near-memory\"]\nname = \"n\"\ndescription = \"d\"\n[host.library]\n{more}\n"
            );
            crate::Platform::parse("x.toml", &text)
        };
        let library = platform("memcpy = { cycles = 4, each = 0.5 }\nmine = { cycles = 7 }");
        let library = library.unwrap().library;
        let memcpy = library.rule("memcpy");
        assert_eq!(memcpy.host_cycles(10.0), 9.0);
        // The NxP's own copy is as slow as before.
        assert_eq!((memcpy.nxp_cycles(16.0), memcpy.argument), (16.0, Some(2)));
        assert_eq!(library.rule("malloc").host_cycles(0.0), 60.0);
        let mine = library.rule("mine");
        assert_eq!((mine.host_cycles(9.0), mine.nxp_cycles(9.0)), (7.0, 100.0));
        let error = platform("memcpy = { each = 1 }").unwrap_err();
        assert!(error.to_string().contains("cycles"), "{error}");
    }
}
