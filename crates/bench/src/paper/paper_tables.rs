//! The tables, for people (Markdown) and for programs (comma-separated values).
use std::fmt::Write as _;

use super::cited::{self, SYSTEMS};
use super::{Graph, Line, Null, Results, paper_bars};
use crate::markdown;

const PREDICTED: &str = "Flick, predicted";

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// What a figure is off another's, as people write it.
pub fn off(value: f64, paper: f64) -> String {
    format!("{:+.1} %", (value / paper - 1.0) * 100.0)
}

/// Table II.
pub fn systems(null: &Null) -> String {
    let mut lines = vec![cells([
        "Table II",
        "fast cores",
        "slow cores",
        "interconnect",
        "µs",
    ])];
    for system in &SYSTEMS {
        let about = if system.overhead.fract() == 0.0 && system.overhead > 100.0 {
            "~"
        } else {
            ""
        };
        lines.push(cells([
            system.work,
            system.fast,
            system.slow,
            system.interconnect,
            &format!("{about}{}", system.overhead),
        ]));
    }
    let flick = &SYSTEMS[SYSTEMS.len() - 1];
    let overhead = format!("{:.1}", null.host_nxp_host.migrating);
    lines.push(cells([
        PREDICTED,
        flick.fast,
        flick.slow,
        flick.interconnect,
        &overhead,
    ]));
    markdown::table(&lines)
}

/// Table III.
pub fn crossings(null: &Null) -> String {
    let mut lines = vec![cells(["Table III", "paper, µs", "predicted, µs", "off"])];
    for (name, paper, times) in crossing_rows(null) {
        let value = times.migrating;
        lines.push(vec![
            name.into(),
            format!("{paper:.2}"),
            format!("{value:.2}"),
            off(value, paper),
        ]);
    }
    markdown::table(&lines)
}

fn crossing_rows(null: &Null) -> [(&'static str, f64, super::Times); 2] {
    [
        ("host-NxP-host", cited::HOST_NXP_HOST, null.host_nxp_host),
        ("NxP-host-NxP", cited::NXP_HOST_NXP, null.nxp_host_nxp),
    ]
}

/// Figure 5 at some lengths.
pub fn curves(lines: &[Line]) -> String {
    const SHOWN: [u64; 8] = [4, 16, 32, 64, 128, 256, 512, 1024];
    let mut head = cells(["host time / Flick's, at nodes"]);
    head.extend(SHOWN.map(|nodes| nodes.to_string()));
    head.push("break-even".into());
    let mut rows = vec![head];
    for (number, part) in ["5a", "5b"].into_iter().enumerate() {
        for line in lines {
            let chase = &line.chases[number];
            let mut row = vec![format!("{part}, {}", line.label)];
            row.extend(SHOWN.map(|nodes| {
                let times = chase.at(nodes);
                markdown::figure(times.map(|times| times.speedup()), 2)
            }));
            row.push(markdown::figure(chase.break_even(), 1));
            rows.push(row);
        }
    }
    let mut paper = vec![String::new(); rows[0].len()];
    paper[0] = "5a, the paper's text".into();
    let column = |nodes: u64| SHOWN.iter().position(|&shown| shown == nodes).unwrap() + 1;
    paper[column(32)] = "1".into();
    paper[column(cited::NODES)] = cited::PLATEAU.to_string();
    *paper.last_mut().unwrap() = cited::BREAK_EVEN.to_string();
    rows.push(paper);
    let mut paper = vec![String::new(); rows[0].len()];
    paper[0] = "5b, the paper's text".into();
    paper[column(cited::NODES)] = format!("~{}", cited::PLATEAU_WITH_PAUSE);
    rows.push(paper);
    markdown::table(&rows)
}

/// A figure of Table IV: its name, the paper's, with no constant fitted, with one.
type Figure = (&'static str, f64, f64, Option<f64>);

fn figures(graph: &Graph) -> [Figure; 3] {
    let data = graph.dataset;
    let (plain, fitted) = (&graph.uncalibrated.mean, graph.fitted.as_ref());
    let ratio = |times: super::Times| times.migrating / times.staying;
    [
        (
            "baseline, s",
            data.baseline,
            plain.staying,
            fitted.map(|search| search.mean.staying),
        ),
        (
            "Flick, s",
            data.flick,
            plain.migrating,
            fitted.map(|search| search.mean.migrating),
        ),
        (
            "Flick / baseline",
            data.ratio(),
            ratio(*plain),
            fitted.map(|search| ratio(search.mean)),
        ),
    ]
}

/// Table IV.
pub fn searches(graphs: &[Graph]) -> String {
    let mut lines = vec![cells([
        "Table IV",
        "paper",
        "uncalibrated",
        "off",
        "one constant fitted",
        "off",
    ])];
    for graph in graphs {
        for (name, paper, plain, fitted) in figures(graph) {
            let digits = if name.ends_with('s') { 1 } else { 2 };
            lines.push(vec![
                format!("{}, {name}", graph.dataset.title),
                format!("{paper:.digits$}"),
                format!("{plain:.2}"),
                off(plain, paper),
                markdown::figure(fitted, 2),
                fitted.map_or("-".into(), |fitted| off(fitted, paper)),
            ]);
        }
    }
    markdown::table(&lines)
}

/// What was searched.
pub fn graphs(graphs: &[Graph]) -> String {
    let mut lines = vec![cells([
        "graph",
        "source",
        "vertices (paper)",
        "edges (paper)",
        "entries",
        "reached",
        "degree mean",
        "10 %",
        "50 %",
        "90 %",
        "99 %",
        "max",
        "iterations",
    ])];
    for graph in graphs {
        let search = &graph.uncalibrated;
        let facts = &search.facts;
        let made = if facts.synthetic {
            "synthetic"
        } else {
            "SNAP's file"
        };
        let data = graph.dataset;
        lines.push(vec![
            data.title.into(),
            made.into(),
            format!("{} ({})", facts.vertices, data.vertices),
            format!("{} ({})", facts.edges, data.edges),
            facts.entries.to_string(),
            format!(
                "{} ({:.2} %)",
                search.reached,
                search.reached as f64 / facts.vertices as f64 * 100.0
            ),
            format!("{:.1}", facts.degree_mean),
            facts.degree_p10.to_string(),
            facts.degree_p50.to_string(),
            facts.degree_p90.to_string(),
            facts.degree_p99.to_string(),
            facts.degree_max.to_string(),
            search.iterations.to_string(),
        ]);
    }
    markdown::table(&lines)
}

/// Names of files, and their contents.
pub fn csv(results: &Results) -> Vec<(&'static str, String)> {
    let mut systems = String::from("work,fast_cores,slow_cores,interconnect,overhead_us\n");
    for system in &SYSTEMS {
        let _ = writeln!(
            systems,
            "\"{}\",\"{}\",\"{}\",\"{}\",{}",
            system.work, system.fast, system.slow, system.interconnect, system.overhead
        );
    }
    let flick = &SYSTEMS[SYSTEMS.len() - 1];
    let _ = writeln!(
        systems,
        "\"{PREDICTED}\",\"{}\",\"{}\",\"{}\",{:.6}",
        flick.fast, flick.slow, flick.interconnect, results.null.host_nxp_host.migrating
    );

    let mut crossings = String::from("call,calls,paper_us,predicted_us,staying_us\n");
    for (name, paper, times) in crossing_rows(&results.null) {
        let _ = writeln!(
            crossings,
            "{name},{},{paper},{:.6},{:.6}",
            results.null.calls, times.migrating, times.staying
        );
    }

    let bars = paper_bars::csv(&paper_bars::checks(results));

    let mut files = vec![
        ("table2", systems),
        ("table3", crossings),
        ("fig5a", curve(&results.lines, 0)),
        ("fig5b", curve(&results.lines, 1)),
        ("bars", bars),
    ];
    if results.graphs.is_empty() {
        return files;
    }
    let mut searches = String::from("dataset,figure,paper,uncalibrated,fitted\n");
    let mut graphs = String::from(
        "dataset,graph,vertices,edges,entries,reached,source,degree_mean,degree_p10,degree_p50,\
         degree_p90,degree_p99,degree_max,iterations\n",
    );
    for graph in &results.graphs {
        let title = graph.dataset.title;
        for (name, paper, plain, fitted) in figures(graph) {
            let fitted = fitted.map_or(String::new(), |fitted| format!("{fitted:.6}"));
            let _ = writeln!(
                searches,
                "{title},\"{name}\",{paper:.4},{plain:.6},{fitted}"
            );
        }
        let search = &graph.uncalibrated;
        let facts = &search.facts;
        let _ = writeln!(
            graphs,
            "{title},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            if facts.synthetic { "synthetic" } else { "file" },
            facts.vertices,
            facts.edges,
            facts.entries,
            search.reached,
            facts.source,
            facts.degree_mean,
            facts.degree_p10,
            facts.degree_p50,
            facts.degree_p90,
            facts.degree_p99,
            facts.degree_max,
            search.iterations
        );
    }
    files.extend([("table4", searches), ("graphs", graphs)]);
    files
}

/// A part of Figure 5: microseconds per call of each line, and host time over Flick's.
fn curve(lines: &[Line], part: usize) -> String {
    let mut text = String::from("nodes,baseline_us");
    for line in lines {
        let _ = write!(text, ",{0} us,{0} speedup", line.label);
    }
    text.push('\n');
    let Some(first) = lines.first() else {
        return text;
    };
    for point in &first.chases[part].points {
        let _ = write!(text, "{},{:.6}", point.nodes, point.times.staying);
        for line in lines {
            let _ = match line.chases[part].at(point.nodes) {
                Some(times) => write!(text, ",{:.6},{:.6}", times.migrating, times.speedup()),
                None => write!(text, ",,"),
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::sample_output;

    #[test]
    fn figure_5_has_a_row_for_each_length() {
        let files = csv(&sample_output::results());
        let text = |name| &files.iter().find(|(file, _)| *file == name).unwrap().1;
        let lines: Vec<_> = text("fig5a").lines().collect();
        assert_eq!(lines.len(), 257);
        assert_eq!(
            lines[0],
            "nodes,baseline_us,Flick us,Flick speedup,500 µs us,500 µs speedup,1 ms us,1 ms speedup"
        );
        assert!(
            lines[256].starts_with("1024,844.800000,322.428000,2.620120,"),
            "{}",
            lines[256]
        );
        assert!(
            text("table4").contains("Pokec,\"baseline, s\",107.4000,107.800000,107.800000\n"),
            "{}",
            text("table4")
        );
    }

    #[test]
    fn without_graphs_there_is_no_table_4() {
        let mut results = sample_output::results();
        results.graphs.clear();
        assert!(csv(&results).iter().all(|(name, _)| *name != "table4"));
    }

    #[test]
    fn the_papers_points_stand_in_their_columns() {
        let text = curves(&sample_output::results().lines);
        let row = |name: &str| {
            let line = text.lines().find(|line| line.contains(name)).unwrap();
            let cells = line.split('|').map(str::trim);
            cells.map(str::to_owned).collect::<Vec<_>>()
        };
        let (head, paper) = (row("at nodes"), row("5a, the paper"));
        let at = |name: &str| &paper[head.iter().position(|cell| cell == name).unwrap()];
        assert_eq!(
            (&**at("32"), &**at("1024"), &**at("break-even")),
            ("1", "2.6", "32")
        );
    }
}
