//! `docs/transparency.md` has a row for each thing that a program split between host and NxP can do
//! as if it were not split. `tests/transparency/` names the tests of each row. Their output decides
//! whether the thing works, is refused, or has a limit.
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::pool::{Kind, Outcome, Verdict};
use crate::program::sorted_entries;

/// One thing that a program can do.
#[derive(Debug)]
struct Row {
    item: String,
    tests: Vec<Evidence>,
    /// Words of docs/limits.md.
    limit: Option<String>,
}

/// A test, and what it must have printed.
#[derive(Debug)]
struct Evidence {
    test: String,
    text: String,
}

/// The rows of one file.
#[derive(Debug)]
pub struct Point {
    title: String,
    rows: Vec<Row>,
}

/// The verdicts on each test that Flick built.
struct Results<'a>(BTreeMap<&'a str, Vec<&'a Verdict>>);

/// Reads all rows, in the order of the files' names.
pub fn read(tests: &Path) -> Result<Vec<Point>, String> {
    let mut points = Vec::new();
    for path in sorted_entries(&tests.join("transparency"))? {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        points.push(parse(&text).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    Ok(points)
}

/// The names of all tests that rows are shown by.
pub fn tests(points: &[Point]) -> impl Iterator<Item = &str> {
    let rows = points.iter().flat_map(|p| &p.rows);
    rows.flat_map(|r| &r.tests).map(|e| e.test.as_str())
}

/// One verdict per row, and one on the page.
pub fn verdicts(points: &[Point], results: &[Verdict], limits: &str, page: &str) -> Vec<Verdict> {
    let results = Results::of(results);
    let mut out = Vec::new();
    for point in points {
        for row in &point.rows {
            let name = format!("transparency: {}: {}", point.title, row.item);
            out.push(Verdict::new(name, row.line(&results, limits).map(drop)));
        }
    }
    let same = text(points, &results, limits).and_then(|now| {
        if now == page {
            return Ok(());
        }
        Err(format!(
            "docs/transparency.md is not what the tests show; make it again with \
             `cargo run -p flick-tests -- --transparency-page`. It is now:\n{now}"
        ))
    });
    out.push(Verdict::new("transparency: the page".into(), same));
    out
}

/// The page that these results make.
pub fn page(points: &[Point], results: &[Verdict], limits: &str) -> Result<String, String> {
    text(points, &Results::of(results), limits)
}

fn parse(text: &str) -> Result<Point, String> {
    let mut table: toml::Table = text.parse().map_err(|e| format!("{e}"))?;
    let title = take_text(&mut table, "title")?;
    let Some(toml::Value::Array(array)) = table.remove("row") else {
        return Err("[[row]] is missing".into());
    };
    nothing_else(&table)?;
    let mut rows = Vec::new();
    for value in array {
        let toml::Value::Table(mut table) = value else {
            return Err("a row is a table".into());
        };
        let item = take_text(&mut table, "item")?;
        let row = parse_row(item.clone(), &mut table).map_err(|e| format!("row '{item}': {e}"))?;
        rows.push(row);
    }
    Ok(Point { title, rows })
}

fn parse_row(item: String, table: &mut toml::Table) -> Result<Row, String> {
    let Some(toml::Value::Array(names)) = table.remove("tests") else {
        return Err("'tests' is missing".into());
    };
    let mut tests = Vec::new();
    for name in &names {
        let name = name.as_str().ok_or("a test is a text")?;
        let (test, text) = name.split_once(": ").unwrap_or((name, ""));
        tests.push(Evidence {
            test: test.into(),
            text: text.into(),
        });
    }
    if tests.is_empty() {
        return Err("no test shows it".into());
    }
    let limit = match table.contains_key("limit") {
        true => Some(take_text(table, "limit")?),
        false => None,
    };
    nothing_else(table)?;
    Ok(Row { item, tests, limit })
}

fn take_text(table: &mut toml::Table, key: &str) -> Result<String, String> {
    match table.remove(key) {
        Some(toml::Value::String(text)) if !text.is_empty() => Ok(text),
        _ => Err(format!("'{key}' is missing, or is no text")),
    }
}

fn nothing_else(table: &toml::Table) -> Result<(), String> {
    match table.keys().next() {
        Some(key) => Err(format!("unknown key '{key}'")),
        None => Ok(()),
    }
}

impl<'a> Results<'a> {
    fn of(verdicts: &'a [Verdict]) -> Self {
        let mut by_test: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
        for v in verdicts {
            by_test.entry(v.test()).or_default().push(v);
        }
        Self(by_test)
    }

    /// The results of a test that passed and printed the given text in every run.
    fn shown(&self, evidence: &Evidence) -> Result<Vec<(Kind, &str)>, String> {
        let Evidence { test, text } = evidence;
        let verdicts = self.0.get(test.as_str()).map_or(&[][..], Vec::as_slice);
        let mut shown = Vec::new();
        for v in verdicts {
            match (&v.outcome, &v.shown) {
                (Outcome::Failed(_), _) => return Err(format!("{} failed", v.name)),
                (Outcome::Passed, Some(s)) if !s.text.contains(text.as_str()) => {
                    return Err(format!("{} does not print '{text}'", v.name));
                }
                (Outcome::Passed, Some(s)) => shown.push((s.kind, s.text.as_str())),
                // The plain build, or a mode in which it does not run.
                _ => {}
            }
        }
        match shown.is_empty() {
            true => Err(format!("there is no test '{test}', or it did not run")),
            false => Ok(shown),
        }
    }

    /// The modes in which a test does not run, as `SKIP-MODE` lists them.
    fn not_in(&self, test: &str) -> Vec<&str> {
        let verdicts = self.0.get(test).map_or(&[][..], Vec::as_slice);
        let mut modes: Vec<&str> = verdicts
            .iter()
            .filter(|v| matches!(v.outcome, Outcome::Skipped(_)))
            .filter_map(|v| v.name.strip_prefix(test)?.strip_prefix(' '))
            .flat_map(|words| words.split(','))
            .collect();
        modes.sort_unstable();
        modes.dedup();
        modes
    }
}

impl Row {
    fn line(&self, results: &Results, limits: &str) -> Result<String, String> {
        let mut kinds = Vec::new();
        let mut codes = Vec::new();
        let mut by = Vec::new();
        for evidence in &self.tests {
            for (kind, text) in results.shown(evidence)? {
                kinds.push(kind);
                if kind != Kind::Works {
                    codes.extend(codes_in(text));
                }
            }
            let test = &evidence.test;
            by.push(match results.not_in(test).join(", ") {
                modes if modes.is_empty() => format!("`{test}`"),
                modes => format!("`{test}` (not {modes})"),
            });
        }
        codes.sort();
        codes.dedup();
        let verdict = self.verdict(&kinds, &codes, limits)?;
        Ok(format!(
            "| {} | {verdict} | {} |\n",
            self.item,
            by.join(", ")
        ))
    }

    fn verdict(&self, kinds: &[Kind], codes: &[String], limits: &str) -> Result<String, String> {
        let link = |code: &String| format!("[{code}](errors/{code}.md)");
        let codes: Vec<String> = codes.iter().map(link).collect();
        if let Some(words) = &self.limit {
            let section = section_with(limits, words)?;
            let anchor = section.to_lowercase().replace(' ', "-");
            let mut verdict = format!("limit: [{words}](limits.md#{anchor})");
            if !codes.is_empty() {
                write!(verdict, " ({})", codes.join(", ")).map_err(|e| e.to_string())?;
            }
            return Ok(verdict);
        }
        if kinds.iter().all(|&k| k == Kind::Works) {
            return Ok("works".into());
        }
        if kinds.iter().all(|&k| k == Kind::Refused) {
            return Ok(format!("refused at build time: {}", codes.join(", ")));
        }
        Err(
            "some of its tests work, or end at run time, and others are refused: make rows of \
             them, or give the words of docs/limits.md as 'limit'"
                .into(),
        )
    }
}

/// The codes that messages carry, `[FLKnnnn]`.
fn codes_in(text: &str) -> impl Iterator<Item = String> {
    text.split('[').filter_map(|part| {
        let (code, _) = part.split_once(']')?;
        let number = code.strip_prefix("FLK")?;
        let digits = number.len() == 4 && number.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| code.to_owned())
    })
}

/// The heading under which `limits` has these words, however its lines are broken.
fn section_with<'a>(limits: &'a str, words: &str) -> Result<&'a str, String> {
    let normal = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let want = normal(words);
    limits
        .split("\n## ")
        .skip(1)
        .find(|section| normal(section).contains(&want))
        .and_then(|section| section.lines().next())
        .ok_or_else(|| format!("docs/limits.md does not say '{words}'"))
}

const INTRODUCTION: &str = "\
# Transparency

This page lists what a program that is split between host and NxP can do, in both directions, as if
it were not split. It is made from the output of the tests that its rows name, and the tests fail if
it differs. The second column of a row has one of these verdicts:

- *works*: programs that do it have the output and the exit status that plain clang gives them, and
  they crossed. They ran with gates and by faults, as PIE, no-PIE and static, with GNU ld and lld,
  at `-O0` and `-O2`. A mode in which a program cannot run stands after its name (`dlopen` in a
  static program, say). The same programs also ran with random placement and under memcheck, unless
  their comments say why not.
- *refused at build time*: a coded error names the place if the function is marked or named. A
  pattern or random placement leaves the function on the host.
- *limit*: [limits.md](limits.md) has the words, and the test shows it.

Programs are in `tests/c` and `tests/cpp`, and refusals in `tests/errors`. `tests/transparency` has
the rows.
";

fn text(points: &[Point], results: &Results, limits: &str) -> Result<String, String> {
    let mut page = INTRODUCTION.to_owned();
    for point in points {
        page.push_str(&format!(
            "\n## {}\n| | | shown by |\n|---|---|---|\n",
            point.title
        ));
        for row in &point.rows {
            let line = row.line(results, limits);
            page.push_str(&line.map_err(|e| format!("{}: {}: {e}", point.title, row.item))?);
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "# Limits\n\n## Control flow\n- Jumps out of\n  coroutines end.\n";

    fn worked(name: &str, text: &str) -> Verdict {
        Verdict::of(name.into(), Kind::Works, Ok(text.into()))
    }

    fn made(rows: &str, results: &[Verdict]) -> Result<String, String> {
        let points = [parse(&format!("title = 'T'\n{rows}"))?];
        let page = page(&points, results, LIMITS)?;
        Ok(page.lines().last().unwrap_or_default().to_owned())
    }

    #[test]
    fn a_row_is_what_its_tests_show() {
        let row = "[[row]]\nitem = 'sorting'\ntests = ['sort', 'more: bsearch 3']";
        let mut results = vec![
            worked("sort gate-pie", ""),
            Verdict::skipped("sort static,O0".into(), "no dlopen"),
            worked("more gate-pie", "qsort 1\nbsearch 3\n"),
        ];
        let line = "| sorting | works | `sort` (not O0, static), `more` |";
        assert_eq!(made(row, &results).as_deref(), Ok(line));
        results.push(worked("more fault-pie", "qsort 1\n"));
        assert!(made(row, &results).unwrap_err().contains("bsearch 3"));
        results.pop();
        results.push(Verdict::new("sort seed 1".into(), Err("bad".into())));
        assert!(made(row, &results).unwrap_err().contains("failed"));
    }

    #[test]
    fn a_refusal_has_its_code_and_a_limit_its_words() {
        let refused = "[[row]]\nitem = 'asm'\ntests = ['errors/asm']";
        let text = "a.c:3:3: error: [FLK0202] inline assembly [FLK02].\n";
        let verdict = |kind| [Verdict::of("errors/asm".into(), kind, Ok(text.into()))];
        let line = "| asm | refused at build time: [FLK0202](errors/FLK0202.md) | `errors/asm` |";
        assert_eq!(made(refused, &verdict(Kind::Refused)).as_deref(), Ok(line));
        assert!(made(refused, &verdict(Kind::Reported)).is_err());
        let limit = format!("{refused}\nlimit = 'Jumps out of coroutines'");
        assert_eq!(
            made(&limit, &verdict(Kind::Reported)).as_deref(),
            Ok(
                "| asm | limit: [Jumps out of coroutines](limits.md#control-flow) \
                ([FLK0202](errors/FLK0202.md)) | `errors/asm` |"
            )
        );
        let unsaid = format!("{refused}\nlimit = 'Jumps into coroutines'");
        assert!(made(&unsaid, &verdict(Kind::Reported)).is_err());
    }

    #[test]
    fn a_row_needs_tests_that_ran() {
        let row = "[[row]]\nitem = 'sorting'\ntests = ['sort']";
        assert!(made(row, &[]).is_err());
        let skipped = [Verdict::skipped("sort".into(), "not here")];
        assert!(made(row, &skipped).is_err());
        let plain = [Verdict::new("sort clang-O2".into(), Ok(()))];
        assert!(made(row, &plain).is_err());
        for bad in ["tests = []", "tests = ['a']\nlimits = 'x'", "test = ['a']"] {
            assert!(made(&format!("[[row]]\nitem = 'i'\n{bad}"), &[]).is_err());
        }
    }
}
