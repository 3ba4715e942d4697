//! The tables, for people (Markdown) and for programs (comma-separated values).
use std::fmt::Write as _;

use super::nanvix_bars::{self, lost};
use super::nanvix_cited::{self as cited, THREADS};
use super::{Results, Samples, Spread, Wish};
use crate::markdown;
use crate::paper::check_csv;

fn head(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

fn mean(spread: Option<Spread>) -> Option<f64> {
    spread.map(|spread| spread.mean)
}

fn cycles(value: Option<f64>) -> String {
    markdown::figure(value, 0)
}

fn percent(value: Option<f64>) -> String {
    markdown::figure(value.map(|value| value * 100.0), 3)
}

/// The largest variation of all configurations, which the paper has below 1 %.
pub fn variation(results: &Results) -> f64 {
    let all = [&results.calls, &results.fork_join.both, &results.noise];
    let all = all.into_iter().flat_map(Samples::all);
    all.map(|(_, _, spread)| spread.variation)
        .fold(0.0, f64::max)
}

pub fn calls(results: &Results) -> String {
    let mut lines = vec![head(&[
        "callers",
        "local, mean",
        "remote, least",
        "mean",
        "most",
        "mean a caller",
        "variation, %",
    ])];
    for (callers, local) in results.calls.named("local") {
        let remote = results.calls.get("remote", callers);
        lines.push(vec![
            callers.to_string(),
            cycles(Some(local.mean)),
            cycles(remote.map(|remote| remote.least)),
            cycles(mean(remote)),
            cycles(remote.map(|remote| remote.most)),
            cycles(mean(remote).map(|all| all / f64::from(callers))),
            percent(remote.map(|remote| remote.variation)),
        ]);
    }
    markdown::table(&lines)
}

pub fn fork_join(results: &Results) -> String {
    let mut lines = vec![head(&[
        "threads",
        "ideal",
        "recycling on",
        "over ideal",
        "fork",
        "join",
        "off",
        "over ideal",
        "fork",
        "join",
    ])];
    let fork_join = &results.fork_join;
    for (threads, on) in fork_join.both.named("on") {
        let ideal = cited::fork_join_ideal(threads);
        let off = mean(fork_join.both.get("off", threads));
        let part = |samples: &Samples, name| cycles(mean(samples.get(name, threads)));
        lines.push(vec![
            threads.to_string(),
            cycles(Some(ideal)),
            cycles(Some(on.mean)),
            format!("{:.2}", on.mean / ideal),
            part(&fork_join.fork, "on"),
            part(&fork_join.join, "on"),
            cycles(off),
            markdown::figure(off.map(|off| off / ideal), 2),
            part(&fork_join.fork, "off"),
            part(&fork_join.join, "off"),
        ]);
    }
    markdown::table(&lines)
}

pub fn noise(results: &Results) -> String {
    let mut lines = vec![head(&[
        "workers",
        "alone, cycles",
        "beside calls, %",
        "slowest repetition, %",
        "beside copies, %",
        "one bank: calls, %",
        "copies, %",
    ])];
    let (noise, one) = (&results.noise, &results.noise_of_one_bank);
    for (workers, alone) in noise.named("alone") {
        let slowest = noise
            .get("calls", workers)
            .map(|calls| calls.most / alone.mean - 1.0);
        lines.push(vec![
            workers.to_string(),
            cycles(Some(alone.mean)),
            percent(lost(noise, "calls", workers)),
            percent(slowest),
            percent(lost(noise, "copies", workers)),
            percent(lost(one, "calls", workers)),
            percent(lost(one, "copies", workers)),
        ]);
    }
    markdown::table(&lines)
}

pub fn latencies(results: &Results) -> String {
    let mut lines = vec![head(&[
        "to cluster",
        "hops",
        "link, cycles",
        "message, cycles",
        "beyond the link",
    ])];
    for (cluster, latency) in results.mailbox.named("latency") {
        let link = cited::link_latency(cluster);
        lines.push(vec![
            cluster.to_string(),
            cited::hops(cluster).to_string(),
            cycles(Some(link)),
            cycles(Some(latency.mean)),
            cycles(Some(latency.mean - link)),
        ]);
    }
    markdown::table(&lines)
}

pub fn bandwidths(results: &Results) -> String {
    let mut lines = vec![head(&[
        "clusters that send",
        "cycles a message",
        "MB/s",
        "of the link, %",
    ])];
    for (senders, spread) in results.mailbox.named("senders") {
        let messages = 1.0 / spread.mean;
        lines.push(vec![
            senders.to_string(),
            cycles(Some(spread.mean)),
            format!("{:.2}", messages * cited::MESSAGE * cited::CLOCK / 1e6),
            percent(Some(messages / cited::link_messages())),
        ]);
    }
    markdown::table(&lines)
}

fn bandwidth(bytes: u32, cycles: f64) -> [String; 2] {
    let megabytes = f64::from(bytes) / cycles * cited::CLOCK / 1e6;
    let share = cited::link_cycles(bytes) / cycles * 100.0;
    [format!("{megabytes:.1}"), format!("{share:.1}")]
}

pub fn portal_sizes(results: &Results) -> String {
    let mut lines = vec![head(&[
        "bytes of a block",
        "in a stream, cycles",
        "MB/s",
        "of the link, %",
        "alone, cycles",
        "MB/s",
        "of the link, %",
    ])];
    for (size, stream) in results.portal.named("stream") {
        let mut line = vec![size.to_string(), cycles(Some(stream.mean))];
        line.extend(bandwidth(size, stream.mean));
        let single = results.portal.get("single", size);
        line.push(cycles(mean(single)));
        let single = single.map(|single| bandwidth(size, single.mean));
        line.extend(single.into_iter().flatten());
        lines.push(line);
    }
    markdown::table(&lines)
}

pub fn portal_clusters(results: &Results) -> String {
    let mut lines = vec![head(&[
        "clusters that send blocks of 64 KiB",
        "cycles a block",
        "MB/s",
        "of one link, %",
    ])];
    for (senders, block) in results.portal.named("block") {
        let mut line = vec![senders.to_string(), cycles(Some(block.mean))];
        line.extend(bandwidth(cited::PORTAL_BLOCK, block.mean));
        lines.push(line);
    }
    markdown::table(&lines)
}

pub fn syncs(results: &Results) -> String {
    let mut lines = vec![head(&[
        "clusters",
        "all to one, cycles",
        "one to all, cycles",
    ])];
    for (clusters, gather) in results.portal.named("gather") {
        lines.push(vec![
            clusters.to_string(),
            cycles(Some(gather.mean)),
            cycles(mean(results.portal.get("scatter", clusters))),
        ]);
    }
    markdown::table(&lines)
}

/// The names and the figures of a variant of the hardware.
const FIGURES: [&str; 6] = [
    "local call",
    "remote call",
    "of 14 callers",
    "fork-join of 1",
    "of 14",
    "without recycling",
];

fn variants(results: &Results) -> Vec<(&str, [Option<f64>; 6])> {
    let figures = |wish: &Wish| {
        let (calls, both) = (&wish.calls, &wish.fork_join.both);
        [
            calls.get("local", 1),
            calls.get("remote", 1),
            calls.get("remote", THREADS),
            both.get("on", 1),
            both.get("on", THREADS),
            both.get("off", THREADS),
        ]
    };
    let wishes = results.wishes.iter();
    wishes
        .map(|wish| (wish.name, figures(wish).map(mean)))
        .collect()
}

pub fn wishes(results: &Results) -> String {
    let mut lines = vec![head(&["hardware"])];
    lines[0].extend(FIGURES.map(str::to_owned));
    for (name, figures) in variants(results) {
        let mut line = vec![name.to_owned()];
        line.extend(figures.map(cycles));
        lines.push(line);
    }
    markdown::table(&lines)
}

/// Names of files, and their contents.
pub fn csv(results: &Results) -> Vec<(&'static str, String)> {
    let bars = check_csv(&nanvix_bars::checks(results));
    let mut wishes = String::from("hardware,") + &FIGURES.join(",") + "\n";
    for (name, figures) in variants(results) {
        let _ = write!(wishes, "\"{name}\"");
        for figure in figures {
            let _ = write!(wishes, ",{}", markdown::figure(figure, 1));
        }
        wishes.push('\n');
    }
    let fork_join = &results.fork_join;
    vec![
        ("bars", bars),
        ("calls", spreads(&[("", &results.calls)])),
        ("breakdown", super::call_breakdown::csv(results)),
        (
            "fork-join",
            spreads(&[
                ("fork, ", &fork_join.fork),
                ("join, ", &fork_join.join),
                ("both, ", &fork_join.both),
            ]),
        ),
        (
            "noise",
            spreads(&[
                ("", &results.noise),
                ("one bank, ", &results.noise_of_one_bank),
            ]),
        ),
        ("mailbox", spreads(&[("", &results.mailbox)])),
        ("portal", spreads(&[("", &results.portal)])),
        ("wishes", wishes),
    ]
}

fn spreads(all: &[(&str, &Samples)]) -> String {
    let mut text = String::from("what,count,least,mean,most,variation\n");
    for (prefix, samples) in all {
        for (name, count, spread) in samples.all() {
            let Spread {
                least,
                mean,
                most,
                variation,
            } = spread;
            let _ = writeln!(
                text,
                "\"{prefix}{name}\",{count},{least},{mean:.3},{most},{variation:.6}"
            );
        }
    }
    text
}
