//! Mistakes in platform files: what the message names.
use super::Platform;

const GOOD: &str = include_str!("../../../../platforms/near-memory.toml");

/// Line and message for a file in which `from` is replaced.
fn wrong(from: &str, to: &str) -> (usize, String) {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    let error = Platform::parse("x.toml", &text).expect_err(to);
    assert!(!error.help.is_empty());
    let message = error.to_string();
    assert!(message.starts_with("x.toml:"), "{message}");
    (error.line, message + "; " + &error.help)
}

#[test]
fn messages_name_line_key_unit_and_range() {
    let line_of = |text: &str| {
        GOOD.lines()
            .position(|line| line.starts_with(text))
            .unwrap()
            + 1
    };
    let (line, text) = wrong("clock = \"3 GHz\"", "clock = 3");
    assert_eq!(line, line_of("clock"));
    assert!(text.contains("`host.clock`: 3 has no unit"), "{text}");
    assert!(text.contains("100 kHz to 20 GHz"), "{text}");
    let (_, text) = wrong("clock = \"3 GHz\"", "clock = \"3 ns\"");
    assert!(text.contains("none of the units kHz, MHz, GHz"), "{text}");
    let (_, text) = wrong("clock = \"3 GHz\"", "clock = \"300 GHz\"");
    assert!(text.contains("not in the range"), "{text}");
    let (_, text) = wrong("clock = \"3 GHz\"", "clok = \"3 GHz\"");
    assert!(text.contains("`host.clock` is missing"), "{text}");
    let (_, text) = wrong("overlap = 2", "overlap = 2\noverlapp = 3");
    assert!(
        text.contains("`host.overlapp` is not known") && text.contains("'overlap'"),
        "{text}"
    );
    let (_, text) = wrong("overlap = 2", "overlap = 0.5");
    assert!(text.contains("0.5 is not in the range 1 to 64"), "{text}");
    let (_, text) = wrong("cores = 4", "cores = 4.5");
    assert!(text.contains("not a whole number"), "{text}");
    let (_, text) = wrong("ways = 11", "ways = 12");
    assert!(text.contains("number of sets"), "{text}");
    let (_, text) = wrong("holds = [\"nxp\"]", "holds = [\"npx\"]");
    assert!(
        text.contains("\"npx\" is not known") && text.contains("'nxp'"),
        "{text}"
    );
    let (_, text) = wrong("nxp = \"2 MiB\"", "nxp = \"3 MiB\"");
    assert!(text.contains("no page has this size"), "{text}");
    let (_, text) = wrong("[crossing.nxp-returns]", "[crossing.nxp-retruns]");
    assert!(text.contains("`crossing.nxp-returns` is missing"), "{text}");
    let (_, text) = wrong("name = \"near-memory\"", "name = 3");
    assert!(text.contains("it is a whole number"), "{text}");
    let (line, text) = wrong("[nxp]\n", "[nxp\n");
    assert!(text.contains("not TOML"), "{text}");
    assert!(line >= line_of("[nxp]"), "{line}");
}

/// No text makes the reader panic.
#[test]
fn damaged_files_are_errors() {
    for at in (0..GOOD.len()).step_by(7) {
        if !GOOD.is_char_boundary(at) {
            continue;
        }
        for with in [
            "",
            "\"",
            "[",
            "=",
            "-1",
            "9e999",
            "\u{0}",
            "\n[[nxp.cache]]\n",
        ] {
            let text = format!("{}{with}{}", &GOOD[..at], &GOOD[at..]);
            let _ = Platform::parse("x.toml", &text);
            let _ = Platform::parse("x.toml", &GOOD[..at]);
        }
    }
}
