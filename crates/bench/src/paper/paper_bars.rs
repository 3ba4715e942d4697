//! The bars of the reproduction: what is predicted beside what the paper has.
use std::fmt::Write as _;

use super::{Results, cited, closed};
use crate::markdown;

/// A bar, and whether it is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub name: String,
    pub got: String,
    pub wanted: String,
    pub held: bool,
}

/// `value` within a share of `of`.
pub fn within(name: String, value: f64, of: f64, share: f64) -> Check {
    let off = value / of - 1.0;
    Check {
        name,
        got: format!("{value:.2} ({:+.1} %)", off * 100.0),
        wanted: format!("{of:.2} ± {:.0} %", share * 100.0),
        held: off.abs() <= share,
    }
}

pub fn checks(results: &Results) -> Vec<Check> {
    let mut all = crossings(results);
    all.extend(chase(results));
    all.extend(searches(results));
    all
}

/// Table III is put in, part by part; its sum has to come out.
fn crossings(results: &Results) -> Vec<Check> {
    let rows = [
        (
            "Table III: host-NxP-host, µs",
            results.null.host_nxp_host,
            cited::HOST_NXP_HOST,
        ),
        (
            "Table III: NxP-host-NxP, µs",
            results.null.nxp_host_nxp,
            cited::NXP_HOST_NXP,
        ),
    ];
    let row = |(name, times, paper): (&str, super::Times, f64)| {
        within(name.to_owned(), times.migrating, paper, 0.01)
    };
    rows.map(row).into()
}

fn chase(results: &Results) -> Vec<Check> {
    let Some(line) = results.lines.first() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let [none, pause] = &line.chases;
    if let Some(times) = none.at(cited::NODES) {
        let name = format!("Fig. 5a at {} nodes", cited::NODES);
        all.push(within(name, times.speedup(), cited::PLATEAU, 0.05));
    }
    let even = none.break_even();
    all.push(Check {
        name: "Fig. 5a: break-even, accesses".into(),
        got: markdown::figure(even, 1),
        wanted: format!("{:.0} ± 4", cited::BREAK_EVEN),
        held: even.is_some_and(|even| (even - cited::BREAK_EVEN).abs() <= 4.0),
    });
    if let Some(form) = closed::Form::of(results.null.host_nxp_host.migrating, none) {
        let off = form.deviation(pause);
        all.push(Check {
            name: "Fig. 5b off the closed form of 5a, at most".into(),
            got: format!("{:.2} %", off * 100.0),
            wanted: "≤ 1 %".into(),
            held: off <= 0.01,
        });
    }
    if let Some(times) = pause.at(cited::NODES) {
        let name = format!("Fig. 5b at {} nodes", cited::NODES);
        all.push(within(
            name,
            times.speedup(),
            cited::PLATEAU_WITH_PAUSE,
            0.15,
        ));
    }
    all
}

/// Held by the prediction with the fitted constant, where there is one.
fn searches(results: &Results) -> Vec<Check> {
    let mut all = Vec::new();
    for graph in &results.graphs {
        let data = graph.dataset;
        let search = graph.fitted.as_ref().unwrap_or(&graph.uncalibrated);
        let which = if graph.fitted.is_some() {
            ""
        } else {
            " (uncalibrated)"
        };
        all.push(within(
            format!("Table IV: {} baseline, s", data.title),
            search.mean.staying,
            data.baseline,
            0.20,
        ));
        let ratio = search.mean.migrating / search.mean.staying;
        all.push(within(
            format!("Table IV: {} Flick / baseline{which}", data.title),
            ratio,
            data.ratio(),
            0.15,
        ));
        let side = |ratio: f64| if ratio > 1.0 { "slower" } else { "faster" };
        all.push(Check {
            name: format!("Table IV: {} with Flick{which}", data.title),
            got: side(ratio).into(),
            wanted: side(data.ratio()).into(),
            held: side(ratio) == side(data.ratio()),
        });
    }
    all
}

pub fn table(checks: &[Check]) -> String {
    let mut lines = vec![
        ["bar", "predicted", "wanted", ""]
            .map(str::to_owned)
            .to_vec(),
    ];
    for check in checks {
        let verdict = if check.held { "held" } else { "**missed**" };
        lines.push(vec![
            check.name.clone(),
            check.got.clone(),
            check.wanted.clone(),
            verdict.into(),
        ]);
    }
    markdown::table(&lines)
}

/// Comma-separated values.
pub fn csv(checks: &[Check]) -> String {
    let mut text = String::from("bar,predicted,wanted,held\n");
    for check in checks {
        let _ = writeln!(
            text,
            "\"{}\",\"{}\",\"{}\",{}",
            check.name, check.got, check.wanted, check.held
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::sample_output;

    #[test]
    fn the_bars_hold_for_a_machine_like_the_papers() {
        let checks = checks(&sample_output::results());
        let missed: Vec<_> = checks.iter().filter(|check| !check.held).collect();
        assert!(missed.is_empty(), "{missed:#?}");
        assert_eq!(checks.len(), 2 + 4 + 3);
        assert!(table(&checks).contains("| Table IV: Pokec with Flick"));
    }

    #[test]
    fn a_bar_that_is_missed_says_so() {
        let mut results = sample_output::results();
        // Slower than the host, as the paper's is not; the other two are all right then, or not
        // asked.
        results.graphs[0].fitted.as_mut().unwrap().mean.migrating = 110.0;
        let checks = checks(&results);
        let missed: Vec<_> = checks.iter().filter(|check| !check.held).collect();
        assert_eq!(missed.len(), 2, "{missed:#?}");
        assert_eq!((&*missed[1].got, &*missed[1].wanted), ("slower", "faster"));
        assert!(table(&checks).contains("**missed**"));
        // A list that never pays.
        results.lines[0].chases = [
            sample_output::parsed(500.0, 0.0),
            sample_output::parsed(500.0, 100.0),
        ];
        let even = |check: &&Check| check.name.contains("break-even");
        let checks = super::checks(&results);
        let even = checks.iter().find(even).unwrap();
        assert!(!even.held || even.got != "-", "{even:?}");
    }
}
