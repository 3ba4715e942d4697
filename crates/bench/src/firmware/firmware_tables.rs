//! The tables: the paper's figures, what the platform predicts, and what comes out with firmware.
use super::{Results, trips};
use crate::markdown;
use crate::paper::{HOST_NXP_HOST, NXP_HOST_NXP, Search, off};

const TRIPS: [(&str, f64); 2] = [
    ("host-NxP-host", HOST_NXP_HOST),
    ("NxP-host-NxP", NXP_HOST_NXP),
];

fn line<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// Table III.
pub fn crossings(results: &Results) -> Vec<Vec<String>> {
    let mut lines = vec![line([
        "µs",
        "paper",
        "predicted",
        "with firmware",
        "off",
        "with a hart for the kernel",
    ])];
    for (trip, (name, paper)) in TRIPS.into_iter().enumerate() {
        let [predicted, firmware, harts] = [
            &results.null.platform,
            &results.null.firmware,
            &results.harts,
        ]
        .map(|null| trips(null)[trip]);
        lines.push(vec![
            name.into(),
            format!("{paper:.2}"),
            format!("{predicted:.2}"),
            format!("{firmware:.2}"),
            off(firmware, paper),
            format!("{harts:.2}"),
        ]);
    }
    lines
}

/// What each part takes. The host's is the same in both. What the machine's link, misses and registers take
/// with firmware is the difference to a run without. The rest of the link's part is the platform's.
pub fn parts(results: &Results) -> Vec<Vec<String>> {
    let mut lines = vec![line([
        "µs",
        "host-NxP-host: platform",
        "firmware",
        "NxP-host-NxP: platform",
        "firmware",
    ])];
    let names = [
        "host: fault, handler, descriptor, switch, interrupt, wake",
        "link",
        "NxP: receive, dispatch, answer",
        "of this: instructions that the cache lacks",
        "of this: registers of devices",
        "the program's own code",
    ];
    let columns = [0, 1].map(|trip| {
        let platform = results.parts[trip];
        let [predicted, firmware] =
            [&results.null.platform, &results.null.firmware].map(|null| trips(null)[trip]);
        let of = |without: usize| firmware - trips(&results.without[without])[trip];
        let own = predicted - platform.host - platform.link - platform.nxp;
        let link = of(0) + platform.beside_machine_link;
        let nxp = firmware - own - platform.host - link;
        [
            (Some(platform.host), platform.host),
            (Some(platform.link), link),
            (Some(platform.nxp), nxp),
            (None, of(1)),
            (None, of(2)),
            (Some(own), own),
        ]
    });
    for (row, name) in names.into_iter().enumerate() {
        let mut cells = vec![name.to_owned()];
        for column in &columns {
            let (platform, firmware) = column[row];
            cells.push(markdown::figure(platform, 2));
            // Not -0.00.
            cells.push(format!("{:.2}", (firmware * 100.0).round() / 100.0 + 0.0));
        }
        lines.push(cells);
    }
    lines
}

/// Figure 5 at some lengths.
pub fn curves(results: &Results) -> Vec<Vec<String>> {
    const SHOWN: [u64; 8] = [4, 16, 32, 64, 128, 256, 512, 1024];
    let mut head = line(["host time / Flick's, at nodes"]);
    head.extend(SHOWN.map(|nodes| nodes.to_string()));
    head.push("break-even".into());
    let mut lines = vec![head];
    for (part, both) in ["5a", "5b"].into_iter().zip(&results.chases) {
        for (world, chase) in [
            ("predicted", &both.platform),
            ("with firmware", &both.firmware),
        ] {
            let mut cells = vec![format!("{part}, {world}")];
            cells.extend(SHOWN.map(|nodes| {
                let times = chase.at(nodes);
                markdown::figure(times.map(|times| times.speedup()), 2)
            }));
            cells.push(markdown::figure(chase.break_even(), 1));
            lines.push(cells);
        }
    }
    lines
}

/// Table IV: seconds with Flick, of one iteration.
pub fn searches(results: &Results) -> Vec<Vec<String>> {
    let mut lines = vec![line([
        "Flick, s",
        "paper",
        "predicted",
        "with firmware",
        "off",
        "fitted: predicted",
        "with firmware",
        "off",
    ])];
    for graph in &results.graphs {
        let paper = graph.dataset.flick;
        let seconds = |search: &Search| search.mean.migrating;
        let mut cells = vec![graph.dataset.title.to_owned(), format!("{paper:.1}")];
        for both in [&graph.uncalibrated, &graph.fitted] {
            let firmware = seconds(&both.firmware);
            cells.push(format!("{:.2}", seconds(&both.platform)));
            cells.push(format!("{firmware:.2}"));
            cells.push(off(firmware, paper));
        }
        lines.push(cells);
    }
    lines
}
