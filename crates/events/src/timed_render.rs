//! The prediction as text: times, where they go, and a verdict for each call site.
use std::fmt::{self, Display, Formatter};

use flick_names::Demangle;

use crate::number::{counted, grouped};
use crate::timed_data::{Share, Site, Timed, Verdict};

/// A duration for people, from picoseconds: four digits and a unit.
pub fn duration(ps: u64) -> String {
    let ps = ps as f64;
    for (unit, size) in [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)] {
        if ps >= size {
            let value = ps / size;
            let digits = if value >= 1000.0 {
                0
            } else if value >= 100.0 {
                1
            } else if value >= 10.0 {
                2
            } else {
                3
            };
            return format!("{value:.digits$} {unit}");
        }
    }
    format!("{ps:.0} ps")
}

/// [`Timed`] as text of several lines; each ends in a newline.
pub struct Text<'a> {
    pub timed: &'a Timed,
    pub demangle: Demangle,
    /// Leave nothing out of the table of call sites.
    pub all: bool,
    /// Lines about the two times, to put below them.
    pub below_times: &'a str,
}

/// Call sites that are shown before the rest becomes one line.
const MOST_SITES: usize = 20;

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let t = self.timed;
        writeln!(f, "\n Predicted for {}: {}\n", t.platform, t.description)?;
        let migrating = t.migrating.max(1) as f64;
        let ratio = t.baseline() as f64 / migrating;
        let than = match t.baseline_moves() {
            true => "with nothing placed",
            false => "without",
        };
        let faster = if (0.995..1.005).contains(&ratio) {
            "no difference".to_owned()
        } else if ratio >= 1.0 {
            format!("{ratio:.2}x faster than {than}")
        } else {
            format!("{:.2}x slower than {than}", 1.0 / ratio.max(1e-9))
        };
        // What the program takes as its user has it comes first, where it is an answer of its own.
        let leads = t.has_own_memory();
        let before = format!(" {:>20}  with nothing placed", duration(t.before));
        if leads {
            writeln!(f, "{before}")?;
        }
        writeln!(
            f,
            " {:>20}  with migration     # {faster}",
            duration(t.migrating)
        )?;
        writeln!(f, " {:>20}  without migration", duration(t.staying))?;
        if t.baseline_moves() && !leads {
            writeln!(f, "{before}")?;
        }
        f.write_str(self.below_times)?;
        let about = [
            t.about_order(),
            t.about_baseline(),
            t.about_own_memory(),
            t.about_data(),
        ];
        for about in about {
            if !about.is_empty() {
                writeln!(f)?;
            }
            for line in about {
                writeln!(f, " {line}")?;
            }
        }
        shares(f, "With migration", &t.migrating_shares)?;
        shares(f, "Without migration", &t.staying_shares)?;
        self.sites(f)?;
        writeln!(f)?;
        if t.threads > 1 {
            writeln!(
                f,
                " {} threads: shares are sums, the times those of the thread that ends last.",
                t.threads
            )?;
        }
        if !t.host_counted {
            writeln!(
                f,
                " Host code has not recorded its time: build the program with --flick-timed."
            )?;
        }
        writeln!(
            f,
            " Code that was not built so ({}) is charged by rule (docs/timing.md).",
            t.libc
        )
    }
}

fn shares(f: &mut Formatter<'_>, title: &str, shares: &[Share]) -> fmt::Result {
    let sum: u64 = shares.iter().map(|share| share.time).sum();
    writeln!(f, "\n {title}:")?;
    for share in shares {
        let percent = share.time as f64 * 100.0 / sum.max(1) as f64;
        writeln!(
            f,
            " {:>20}  {percent:5.1} %  {}",
            duration(share.time),
            share.name
        )?;
    }
    Ok(())
}

/// `pays 2.4x; breaks even at 33 accesses a call, you have 812`
pub fn verdict(site: &Site) -> String {
    let work = |work: f64| {
        if work < 10.0 {
            format!("{work:.1}")
        } else {
            grouped(work.round() as u64)
        }
    };
    let have = work(site.work());
    let unit = site.unit();
    let even = site.before as f64 / site.migrating.max(1) as f64;
    match site.verdict() {
        // To the digits that are shown elsewhere.
        _ if (0.995..1.005).contains(&even) => "makes no difference".to_owned(),
        Verdict::Pays {
            factor,
            break_even: Some(even),
        } => format!(
            "pays {factor:.1}x; breaks even at {} {unit} a call, you have {have}",
            work(even)
        ),
        Verdict::Pays {
            factor,
            break_even: None,
        } => format!("pays {factor:.1}x"),
        Verdict::Loses {
            factor,
            break_even: Some(even),
        } => format!(
            "costs {:.1}x; would break even at {} {unit} a call, you have {have}",
            1.0 / factor.max(1e-9),
            work(even)
        ),
        Verdict::Loses {
            factor,
            break_even: None,
        } => format!(
            "costs {:.1}x; no number of {unit} a call would make it pay",
            1.0 / factor.max(1e-9)
        ),
    }
}

impl Text<'_> {
    fn sites(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sites = &self.timed.sites;
        if sites.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n Calls of the NxP, by call site:")?;
        let without = match self.timed.baseline_moves() {
            true => "with nothing placed",
            false => "without",
        };
        let shown = if self.all { sites.len() } else { MOST_SITES };
        for site in sites.iter().take(shown) {
            let caller = self.demangle.apply(&site.caller);
            let callee = self.demangle.apply(&site.callee);
            writeln!(
                f,
                " {:>20}  {caller} -> {callee}: {}, {} a call ({} {without})",
                duration(site.migrating),
                counted(site.calls, "call"),
                duration(site.migrating / site.calls.max(1)),
                duration(site.before / site.calls.max(1)),
            )?;
            writeln!(f, " {:>20}  {}", "", verdict(site))?;
        }
        if sites.len() > shown {
            writeln!(f, " {:>20}  and {} more", "", sites.len() - shown)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration(18_300_000), "18.30 us");
        assert_eq!(duration(825_000), "825.0 ns");
        assert_eq!(duration(107_400_000_000_000), "107.4 s");
        assert_eq!(duration(12), "12 ps");
        assert_eq!(duration(1_234_000_000_000_000), "1234 s");
    }

    #[test]
    fn a_tie_neither_pays_nor_costs() {
        let site = |staying| Site {
            calls: 1,
            migrating: 1000,
            staying,
            before: staying,
            ..Site::default()
        };
        for staying in [997, 1000, 1003] {
            assert_eq!(verdict(&site(staying)), "makes no difference");
        }
        assert!(verdict(&site(1010)).starts_with("pays"));
        let timed = Timed {
            migrating: 1001,
            staying: 1000,
            before: 1000,
            ..Timed::default()
        };
        let text = Text {
            timed: &timed,
            demangle: Demangle::No,
            all: true,
            below_times: "",
        };
        assert!(text.to_string().contains("# no difference\n"));
    }

    #[test]
    fn a_verdict_says_what_to_do() {
        let site = Site {
            calls: 10,
            accesses: 8120,
            migrating: 10 * (18_300_000 + 812 * 267_000),
            before: 10 * 812 * 825_000,
            crossing: 183_000_000,
            ..Site::default()
        };
        assert_eq!(
            verdict(&site),
            "pays 2.8x; breaks even at 33 accesses a call, you have 812"
        );
    }
}
