//! The page of figures that a machine like the paper's would have.
use flick_abi::descriptor::DESCRIPTOR_SIZE;
use flick_abi::dtu::HEADER_SIZE;
use flick_timing::Platform;
use flick_timing::machine::Machine;
use flick_timing::platform::Part;

use super::break_even::MACHINE_LINK;
use super::{
    Both, EvenRow, FEW_COUNTS, Results, SWEEPS, Threaded, WITHOUT, checks, host_and_link, page,
};
use crate::paper::{Chase, Null, Search, sample_output};

fn null(there: f64, back: f64) -> Null {
    let text = format!(
        "call,calls,migrating_us,staying_us\nhost-nxp-host,10,{there},1\nnxp-host-nxp,10,{back},1\n"
    );
    Null::parse(&text).unwrap()
}

fn chase(crossing: f64) -> Chase {
    let mut text = String::from("interval_us,nodes,calls,migrating_us,staying_us\n");
    for nodes in (4..=1024).step_by(4) {
        let (flick, host) = (crossing + 0.287 * nodes as f64, 0.825 * nodes as f64);
        text += &format!("0,{nodes},4,{flick},{host}\n");
    }
    Chase::parse(&text).unwrap()
}

/// Harts share the work: half as many take twice as long.
fn threaded() -> Vec<Threaded> {
    let row = |threads: usize, harts: usize| {
        let shares = (threads as f64 / harts as f64).max(1.0);
        let search = sample_output::search("pokec", 90.0 * shares, 107.8);
        Threaded {
            threads,
            harts,
            chase: chase(18.3 * shares),
            search: Search::parse(&search).unwrap(),
        }
    };
    let counts = FEW_COUNTS.iter();
    let rows = counts.flat_map(|&threads| FEW_COUNTS.map(|harts| row(threads, harts)));
    rows.collect()
}

fn results(there: f64) -> Results {
    let chases = || Both {
        platform: chase(18.3),
        firmware: chase(there),
    };
    let evens = SWEEPS.iter().flat_map(|sweep| {
        let row = |value: &super::break_even::Value| EvenRow {
            what: sweep.what,
            value: value.name,
            chases: chases(),
        };
        sweep.values.iter().map(row).collect::<Vec<_>>()
    });
    Results {
        by: "test".into(),
        parts: host_and_link("flick-isca20").unwrap(),
        null: Both {
            platform: null(18.38, 17.03),
            firmware: null(there, 17.5),
        },
        harts: null(there + 1.0, 18.5),
        without: WITHOUT.map(|_| null(there - 0.6, 16.9)).to_vec(),
        chases: [chases(), chases()],
        graphs: vec![],
        evens: evens.collect(),
        threaded: threaded(),
    }
}

#[test]
fn bars_say_what_is_near_the_paper() {
    let held = |there| {
        checks(&results(there))
            .iter()
            .map(|check| check.held)
            .collect::<Vec<_>>()
    };
    assert_eq!(held(19.5), [true, true]);
    assert_eq!(held(20.5), [false, true]);
}

#[test]
fn the_parts_of_a_call_add_up() {
    let results = results(19.5);
    let [there, back] = results.parts;
    assert!((there.host + there.link + there.nxp - 18.3).abs() < 1e-9);
    assert!((back.host + back.link + back.nxp - 16.9).abs() < 1e-9);
    // 0.7, 2.2, 0.6, 2.2 less 0.8, 2.5 and 6 on the host; and the same without the fault.
    assert!((there.host - 13.4).abs() < 1e-9 && (back.host - 10.9).abs() < 1e-9);
    let rows = super::firmware_tables::parts(&results);
    let sum: f64 = [1, 2, 3, 6]
        .map(|row: usize| rows[row][2].parse::<f64>().unwrap())
        .iter()
        .sum();
    assert!((sum - 19.5).abs() < 0.03, "{rows:?}");
}

/// What the platform takes for the machine's link is what the machine's link takes.
#[test]
fn the_platform_has_the_time_of_the_machine_s_link() {
    const BYTES: u64 = (HEADER_SIZE + DESCRIPTOR_SIZE) as u64;
    const FS_PER_NS: f64 = 1e6;
    let machine = Machine::load("flick-isca20", &[]).unwrap();
    let link = &machine.links[0];
    let cycles = BYTES.div_ceil(link.width) as f64;
    let wanted = (link.latency as f64 + cycles * link.period) / FS_PER_NS;
    assert!((wanted - MACHINE_LINK).abs() < 0.05, "{wanted}");
    for platform in ["flick-isca20", "flick-isca20-fitted"] {
        let crossing = Platform::load(platform).unwrap().crossing;
        let said = crossing.machine_link.unwrap() as f64 / FS_PER_NS;
        assert!((said - MACHINE_LINK).abs() < 1e-6, "{platform}: {said}");
    }
}

/// A sweep of the link leaves the rest of a descriptor's way as it is.
#[test]
fn a_slower_link_is_charged_once() {
    let rest = |platform: &str| {
        let crossing = Platform::load(platform).unwrap().crossing.of_host();
        crossing.nxp_returns[Part::Link as usize]
    };
    let mut links = 0;
    for sweep in SWEEPS.iter().filter(|sweep| sweep.what.starts_with("link")) {
        for value in sweep.values {
            let platform = format!("flick-isca20{}", sweep.setting(value).platform);
            assert_eq!(rest(&platform), rest("flick-isca20"), "{platform}");
            links += 1;
        }
    }
    assert!(links > 3);
}

#[test]
fn the_page_has_all_tables() {
    let page = page(&results(19.5));
    for words in [
        "| host-NxP-host | 18.30 |     18.38 |         19.50 | +6.6 % |",
        "5b, with firmware",
        "| NxP clock                  | 1600 MHz |",
        "held",
        "| Table IV                           |            search |       4 |   0.30 |    1.20 |",
        "| Figure 5a, 100 nodes                  |        1 |         4 |",
        "| Table IV, search                      |        1 |         4 |",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
}
