//! The bars of the reproduction.
use super::nanvix_cited::{self as cited, THREADS};
use super::{ForkJoin, Results, Samples};
use crate::paper::Check;

pub fn checks(results: &Results) -> Vec<Check> {
    let mut all = calls(&results.calls);
    all.extend(fork_join(&results.fork_join));
    all.extend(noise(results));
    let (least, most) = results.service.off();
    all.push(Check {
        name: format!(
            "service of {} callers off an equal part",
            results.service.0.len()
        ),
        got: format!("{:+.2} % to {:+.2} %", least * 100.0, most * 100.0),
        wanted: format!("± {:.0} %", cited::SERVICE_BAR * 100.0),
        held: -least <= cited::SERVICE_BAR && most <= cited::SERVICE_BAR,
    });
    all.push(at_most(
        "boot to the first thread, cycles",
        results.boot,
        cited::BOOT_BAR,
    ));
    all.extend(mailbox(&results.mailbox));
    all.extend(portal(&results.portal));
    all
}

fn at_most(name: &str, value: f64, most: f64) -> Check {
    Check {
        name: name.into(),
        got: format!("{value:.0}"),
        wanted: format!("≤ {most:.0}"),
        held: value <= most,
    }
}

fn share(name: String, value: f64, most: f64) -> Check {
    Check {
        name,
        got: format!("{:.3} %", value * 100.0),
        wanted: format!("≤ {:.1} %", most * 100.0),
        held: value <= most,
    }
}

/// A call alone. More callers wait for each other.
fn calls(calls: &Samples) -> Vec<Check> {
    let rows = [
        ("local call, cycles", "local", cited::LOCAL_BAR),
        ("remote call, cycles", "remote", cited::REMOTE_BAR),
    ];
    let check = |(name, call, bar)| Some(at_most(name, calls.get(call, 1)?.mean, bar));
    rows.into_iter().filter_map(check).collect()
}

fn fork_join(fork_join: &ForkJoin) -> Vec<Check> {
    let points = fork_join.both.named("on");
    let Some(&(threads, last)) = points.last() else {
        return Vec::new();
    };
    let ratio = last.mean / cited::fork_join_ideal(threads);
    let mut all = vec![Check {
        name: format!("fork-join of {threads} threads over its ideal"),
        got: format!("{ratio:.2}"),
        wanted: format!("≤ {}", cited::FORK_JOIN_BAR),
        held: ratio <= cited::FORK_JOIN_BAR,
    }];
    let points: Vec<_> = points
        .iter()
        .map(|(n, spread)| (f64::from(*n), spread.mean))
        .collect();
    // A line goes through any two points.
    if points.len() > 2 {
        let straight = explained(&points);
        all.push(Check {
            name: "fork-join: variance that a line explains".into(),
            got: format!("{straight:.4}"),
            wanted: format!("≥ {}", cited::LINEAR_BAR),
            held: straight >= cited::LINEAR_BAR,
        });
    }
    all
}

/// The share of the values' variance that the best line explains.
fn explained(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points
            .iter()
            .map(|point| of(point.0 - x, point.1 - y))
            .sum()
    };
    sum(&|x, y| x * y).powi(2) / (sum(&|x, _| x * x) * sum(&|_, y| y * y))
}

/// What workers lose beside others, in the mean of the configuration where they lose most.
pub fn worst_noise(noise: &Samples, beside: &str) -> Option<(u32, f64)> {
    let losses = noise
        .named(beside)
        .into_iter()
        .filter(|&(workers, _)| workers < THREADS);
    let losses = losses.filter_map(|(workers, _)| Some((workers, lost(noise, beside, workers)?)));
    losses.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// What so many workers lose beside others, as a share of their time alone.
pub fn lost(noise: &Samples, beside: &str, workers: u32) -> Option<f64> {
    Some(noise.get(beside, workers)?.mean / noise.get("alone", workers)?.mean - 1.0)
}

fn noise(results: &Results) -> Vec<Check> {
    let mut all = Vec::new();
    if let Some((workers, lost)) = worst_noise(&results.noise, "calls") {
        let name = format!("noise a computing thread, at {workers} workers");
        all.push(share(name, lost, cited::NOISE_BAR));
    }
    let worst = |noise| worst_noise(noise, "copies").map(|(_, lost)| lost);
    if let (Some(many), Some(one)) = (worst(&results.noise), worst(&results.noise_of_one_bank)) {
        all.push(Check {
            name: "copies beside workers show: 16 banks, one".into(),
            got: format!("{:.3} %, {:.3} %", many * 100.0, one * 100.0),
            wanted: "0 < 16 banks < one".into(),
            held: 0.0 < many && many < one,
        });
    }
    all
}

/// Latency to the cluster that is furthest off the bar.
fn mailbox(mailbox: &Samples) -> Option<Check> {
    let clusters = mailbox
        .named("latency")
        .into_iter()
        .filter(|&(cluster, _)| cluster != 0);
    let beyond = clusters.map(|(cluster, spread)| spread.mean - cited::link_latency(cluster));
    let worst = beyond.max_by(f64::total_cmp)?;
    Some(at_most(
        "message between clusters, cycles beyond the link's",
        worst,
        cited::MAILBOX_BAR,
    ))
}

/// The share of the link's bandwidth.
fn portal(portal: &Samples) -> Option<Check> {
    let block = portal.get("stream", cited::PORTAL_BLOCK)?;
    let share = cited::link_cycles(cited::PORTAL_BLOCK) / block.mean;
    Some(Check {
        name: "portal, blocks of 64 KiB, of the link's bandwidth".into(),
        got: format!("{:.1} %", share * 100.0),
        wanted: format!("≥ {:.0} %", cited::PORTAL_BAR * 100.0),
        held: share >= cited::PORTAL_BAR,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nanvix::sample_run;

    #[test]
    fn a_kernel_within_the_bars_holds_them() {
        let all = checks(&sample_run::results(1.0));
        let missed: Vec<_> = all.iter().filter(|check| !check.held).collect();
        assert!(missed.is_empty(), "{missed:#?}");
        assert_eq!(all.len(), 10);
    }

    #[test]
    fn a_slow_kernel_misses_them() {
        let all = checks(&sample_run::results(2.0));
        let missed: Vec<_> = all
            .iter()
            .filter(|check| !check.held)
            .map(|check| &*check.name)
            .collect();
        assert!(missed.contains(&"remote call, cycles"), "{missed:?}");
        assert!(
            missed.contains(&"fork-join of 14 threads over its ideal"),
            "{missed:?}"
        );
        assert!(
            missed.contains(&"boot to the first thread, cycles"),
            "{missed:?}"
        );
    }

    #[test]
    fn times_that_bend_are_not_linear() {
        let bent = [(1.0, 1.0), (2.0, 4.0), (3.0, 9.0), (4.0, 40.0)];
        assert!(explained(&bent) < cited::LINEAR_BAR);
        assert_eq!(explained(&[(1.0, 3.0), (2.0, 5.0), (3.0, 7.0)]), 1.0);
    }
}
