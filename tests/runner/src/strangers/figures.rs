//! The figures of a whole run.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use super::outcome::{Cell, Compared, Difference, Outcome};
use super::stranger::Level;

/// Shorter runs say more about the start of a process than about the program.
const MEASURABLE: Duration = Duration::from_millis(50);

pub struct Figures<'a> {
    cells: &'a [Cell],
}

impl<'a> Figures<'a> {
    pub fn of(cells: &'a [Cell]) -> Self {
        Self { cells }
    }

    fn compared(&self) -> impl Iterator<Item = (&'a Cell, &'a Compared)> {
        self.cells.iter().filter_map(|cell| match &cell.outcome {
            Outcome::Compared(compared) => Some((cell, compared)),
            Outcome::Excluded(_) => None,
        })
    }

    /// Runs that differ by no rule.
    pub fn differences(&self) -> impl Iterator<Item = &'a Difference> {
        self.compared().flat_map(|(_, c)| &c.differences)
    }

    pub fn different_runs(&self) -> usize {
        self.differences().map(|d| d.runs).sum()
    }

    pub fn runs(&self) -> usize {
        self.compared().map(|(_, c)| c.runs).sum()
    }

    /// The programs that plain clang fails, a line each.
    pub fn excluded(&self) -> String {
        let mut text = String::new();
        for cell in self.cells {
            if let Outcome::Excluded(why) = &cell.outcome {
                let _ = writeln!(text, "{} {}: {why}", cell.program, cell.level);
            }
        }
        text
    }

    pub fn excused(&self) -> String {
        let excused = self.compared().flat_map(|(_, c)| &c.excused);
        excused
            .map(|(name, why)| format!("{name}: {why}\n"))
            .collect()
    }

    /// The totals.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let programs: BTreeSet<&str> = self.compared().map(|(c, _)| c.program.as_str()).collect();
        let cells = self.compared().count();
        let excluded = self.cells.len() - cells;
        let sum =
            |of: &dyn Fn(&Compared) -> usize| self.compared().map(|(_, c)| of(c)).sum::<usize>();
        let _ = writeln!(
            text,
            "{} programs, {cells} of them and a level ({excluded} more fail with plain clang), {} runs",
            programs.len(),
            self.runs()
        );
        let _ = writeln!(
            text,
            "{} runs or builds differ; {} differ by a rule of tests/strangers/exceptions.txt",
            self.different_runs(),
            sum(&|c| c.excused.len())
        );
        let kept = tally(
            self.compared()
                .flat_map(|(_, c)| c.kept.iter().map(|(k, n)| (k.as_str(), *n))),
        );
        let _ = writeln!(
            text,
            "{} functions were to be placed with everything placed; kept on the host: {}",
            sum(&|c| c.chosen),
            shown(&kept)
        );
        let refused = tally(
            self.compared()
                .flat_map(|(_, c)| c.refused.iter().map(|k| (k.as_str(), 1))),
        );
        let _ = writeln!(text, "builds refused by a limit: {}", shown(&refused));
        let _ = writeln!(
            text,
            "{} have one function only, and no half; {} take too long for every engine",
            sum(&|c| usize::from(c.one_function)),
            sum(&|c| usize::from(c.not_everywhere))
        );
        text.push_str(&self.times());
        text
    }

    /// Processor time of Flick's builds with everything placed, over that of plain clang's.
    fn times(&self) -> String {
        let mut text = format!(
            "processor time, all functions placed, for programs of {} ms and more natively:\n\
             level  programs  median  geometric mean  worst\n",
            MEASURABLE.as_millis()
        );
        let mut worst: Vec<(f64, &Cell, Duration, Duration)> = Vec::new();
        for level in Level::ALL {
            let mut ratios = Vec::new();
            for (cell, compared) in self.compared().filter(|(cell, _)| cell.level == level) {
                let Some((native, here)) = compared.times.filter(|t| t.0 >= MEASURABLE) else {
                    continue;
                };
                let ratio = here.as_secs_f64() / native.as_secs_f64();
                ratios.push(ratio);
                worst.push((ratio, cell, native, here));
            }
            if let Some((median, mean, most)) = summary(&mut ratios) {
                let programs = ratios.len();
                let _ = writeln!(
                    text,
                    "{:5}  {programs:8}  {median:6.2}  {mean:14.2}  {most:5.1}",
                    level.to_string()
                );
            }
        }
        worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (ratio, cell, native, here) in worst.iter().take(10) {
            let _ = writeln!(
                text,
                "  {ratio:5.1}x  {:.2} s for {:.2} s  {} {}",
                here.as_secs_f64(),
                native.as_secs_f64(),
                cell.program,
                cell.level
            );
        }
        text
    }
}

/// Median, geometric mean and the largest.
fn summary(ratios: &mut [f64]) -> Option<(f64, f64, f64)> {
    ratios.sort_by(f64::total_cmp);
    let most = *ratios.last()?;
    let count = ratios.len();
    let median = f64::midpoint(ratios[(count - 1) / 2], ratios[count / 2]);
    let logs: f64 = ratios.iter().map(|r| r.ln()).sum();
    Some((median, (logs / count as f64).exp(), most))
}

fn tally<'a>(items: impl Iterator<Item = (&'a str, usize)>) -> BTreeMap<&'a str, usize> {
    let mut tally = BTreeMap::new();
    for (key, number) in items {
        *tally.entry(key).or_default() += number;
    }
    tally
}

fn shown(tally: &BTreeMap<&str, usize>) -> String {
    if tally.is_empty() {
        return "none".into();
    }
    let parts: Vec<String> = tally
        .iter()
        .map(|(code, n)| format!("{n} {code}"))
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        let (median, mean, most) = summary(&mut [4.0, 1.0]).unwrap();
        assert!((median, most) == (2.5, 4.0) && (mean - 2.0).abs() < 1e-9);
        assert_eq!(summary(&mut []), None);
    }

    #[test]
    fn codes_are_counted() {
        let counted = tally([("FLK0204", 2), ("FLK0202", 1), ("FLK0204", 1)].into_iter());
        assert_eq!(shown(&counted), "1 FLK0202, 3 FLK0204");
    }
}
