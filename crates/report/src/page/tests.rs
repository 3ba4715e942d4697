//! Pages of traces that are made up: well-formed, closed to the outside, with every name escaped.
use flick_events::trace::{Encoder, Side, Trace, prediction_block};
use flick_names::Demangle;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::sample_trace::{jumping, nested, prediction, trace};

type Threads<'a> = &'a [&'a dyn Fn(&mut Encoder<'_>) -> bool];

/// The page of such a trace, with or without a prediction. Checked for what all pages have.
fn page(threads: Threads<'_>, predicted: bool) -> String {
    let mut file = trace(threads);
    if predicted {
        file.extend(prediction_block(7, &prediction()));
    }
    let page = super::html(&Trace::read(&file).unwrap(), Demangle::Yes);
    check(&page);
    page
}

/// Well-formed, and without an address that a browser would open.
fn check(page: &str) {
    let mut reader = Reader::from_str(page);
    reader.config_mut().check_end_names = true;
    let mut depth = 0;
    loop {
        let event = reader.read_event();
        match event.unwrap_or_else(|error| panic!("{error} in {page}")) {
            Event::Start(element) => {
                depth += 1;
                attributes(element.attributes());
            }
            Event::Empty(element) => attributes(element.attributes()),
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "an element is open");
}

fn attributes(all: quick_xml::events::attributes::Attributes<'_>) {
    for attribute in all {
        let attribute = attribute.unwrap();
        let key = String::from_utf8_lossy(attribute.key.0).into_owned();
        assert!(!matches!(&*key, "src" | "href" | "xlink:href"), "{key}");
        assert!(!key.starts_with("on") && !key.starts_with("fg:"), "{key}");
    }
}

/// What stands between tags, without them.
fn words(page: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in page.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

#[test]
fn a_whole_run() {
    let page = page(&[&nested, &jumping], true);
    let words = words(&page);
    for part in [
        "bfs",
        "near &lt;&amp;&gt; far",
        "Migration pays: 2.31x as fast as the host alone.",
        "100 µs",
        "231 µs",
        "host accesses to NxP memory",
        "20.0 %",
        "All on the host",
        "the NxP&#39;s functions",
        "89.6 %",
        "Sums over 2 threads",
        "build the program with --flick-timed",
        "main",
        "jumper (2)",
        "pays 2.6x; breaks even at 107 accesses a call, you have 812",
        "from main (bfs.c:44)",
        "40,000",
        "visit &lt;inline&gt;",
        "no number of accesses a call would make it pay",
        "std::vector&lt;int&gt;::push_back(int)",
    ] {
        assert!(words.contains(part), "{part}");
    }
    // Each class that is used has a colour.
    for class in ["host", "nxp", "wait", "x", "x1", "x4", "x6", "h3", "whole"] {
        assert!(
            page.contains(&format!("<span class=\"{class}\"")) || class == "wait",
            "{class}"
        );
        assert!(super::STYLE.contains(&format!(".{class} {{")), "{class}");
    }
    // Three flame graphs: the samples' nanoseconds by side.
    let totals: Vec<&str> = page
        .split("data-total=\"")
        .skip(1)
        .map(|rest| rest.split_once('"').unwrap().0)
        .collect();
    assert_eq!(totals, ["12000", "18000", "43000"]);
    assert!(page.contains("<title>walk (18,000 ns, 100.00%)</title>"));
}

#[test]
fn a_run_that_was_cut_short() {
    let page = page(&[&jumping], false);
    let words = words(&page);
    assert!(words.contains("No prediction: the process did not come to its exit."));
    assert!(words.contains("As far as the trace goes"));
    assert!(words.contains("NxP code"));
}

#[test]
fn a_run_without_events() {
    let words = words(&page(&[], true));
    assert!(words.contains("no events that take time") && words.contains("no samples"));
    let empty = super::html(&Trace::read(&[]).unwrap(), Demangle::Yes);
    check(&empty);
    assert!(empty.contains("An empty trace"));
}

#[test]
fn names_are_only_text() {
    let hostile = |e: &mut Encoder<'_>| {
        e.thread_start(0, b"</div><script>alert(1)</script>\x00\xff")
            && e.name(40, b"]]></script><b>\"'&amp; fg:x=\"1\" 7", b"<i>", 1)
            && e.name(41, b"\x01;\n", b"", 0)
            && e.sample(5_000_000, Side::Host, 5_000_000, 0, &[40, 41, 0, 99])
            && e.thread_end(9_000_000)
    };
    let page = page(&[&hostile], false);
    assert!(!page.contains("<script>alert") && !page.contains("</script><b>"));
    assert_eq!(page.matches("<script").count(), 1);
}

/// A thousand call sites are folded, by source file and function, and are all there.
#[test]
fn many_call_sites() {
    let mut many = prediction();
    let sites = (0..1_000_u64).map(|index| flick_events::timed::Site {
        caller: format!("caller_{index}"),
        callee: match index % 2 {
            0 => "walk.flick.0123abcd".into(),
            _ => format!("near_{}", index % 97),
        },
        calls: 1,
        migrating: index + 1,
        before: 500,
        ..Default::default()
    });
    many.sites = sites.collect();
    let mut file = trace(&[&nested]);
    file.extend(prediction_block(7, &many));
    let page = super::html(&Trace::read(&file).unwrap(), Demangle::Yes);
    check(&page);
    let words = words(&page);
    assert!(words.contains("1,000 call sites in 2 source files"));
    assert!(words.contains("499 faster on the NxP, and 501 not"));
    assert!(words.contains("bfs.c") && words.contains("source file unknown"));
    // All but the first file, and all functions, are closed.
    assert_eq!(page.matches("<details class=\"fold file\" open").count(), 1);
    assert_eq!(
        page.matches("<details class=\"fold function\">").count(),
        98
    );
    for index in 0..1_000 {
        assert!(words.contains(&format!("from caller_{index}\n")), "{index}");
    }
    // The flame graphs come before the call sites, and functions have their colours in both.
    let at = |part: &str| page.find(part).unwrap();
    assert!(at("Which functions") < at("Over time") && at("Over time") < at("Call sites"));
    let colour = super::function_colours::colour("walk");
    assert!(page.contains(&format!("fill=\"{colour}\"")));
    assert!(page.contains(&format!("<i style=\"background:{colour}\"></i>walk")));
}

/// Of a trace with sums the page says so.
#[test]
fn a_trace_with_sums() {
    let coarse = |e: &mut Encoder<'_>| {
        let row = flick_events::trace::Row::Call {
            side: Side::Nxp,
            function: 2,
            site: 9,
            sum: flick_events::trace::CallSum {
                calls: 1_234,
                returns: 1_233,
                jumps: 1,
                times: [7_000_000, 0, 3_000_000],
            },
        };
        let lanes = [[5_000_000, 0, 3_000_000], [7_000_000, 0, 0]];
        nested(e) && e.sum(200_000_000, 100_000_000, &lanes, &[row])
    };
    let words = words(&page(&[&coarse], true));
    assert!(words.contains("From 200 µs on the trace has sums of intervals"));
    assert!(
        words.contains("1,236"),
        "two calls of the events, and those of the sum"
    );
}

#[test]
fn many_threads() {
    let thread: &dyn Fn(&mut Encoder<'_>) -> bool = &nested;
    let page = page(&vec![thread; 70], true);
    assert_eq!(page.matches("class=\"thread\"").count(), 64);
    assert!(page.contains("And 6 more threads."));
}

/// The same trace gives the same page.
#[test]
fn pages_are_reproducible() {
    assert_eq!(page(&[&nested], true), page(&[&nested], true));
}
