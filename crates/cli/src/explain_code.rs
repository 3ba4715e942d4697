//! `flick explain`: the pages of docs/errors, by code.
use std::fmt::Write as _;

use flick_build::Error;

/// (code, page), sorted by code.
pub const PAGES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code (`FLK0103`, `flk103`, `103`); without one a line for each code. FLK0104 for a
/// code that is not there.
pub fn explain(code: Option<&str>) -> Result<String, Error> {
    let Some(asked) = code else {
        return Ok(list());
    };
    let digits = asked.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let page = digits
        .parse::<u16>()
        .ok()
        .map(|number| format!("FLK{number:04}"))
        .and_then(|code| PAGES.iter().find(|(known, _)| *known == code));
    page.map(|(_, page)| (*page).to_owned()).ok_or_else(|| {
        Error::new(
            104,
            "there is no such error code",
            asked,
            format!("the codes are:\n{}", list().trim_end()),
            "flick explain FLK0301 prints the page of FLK0301",
        )
    })
}

/// Code and title of every page.
fn list() -> String {
    PAGES.iter().fold(String::new(), |mut text, (code, page)| {
        let title = page
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("# ");
        let title = title
            .strip_prefix(code)
            .unwrap_or(title)
            .trim_start_matches(": ");
        let _ = writeln!(text, "{code}  {title}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_page_in_any_spelling() {
        for spelling in ["FLK0301", "flk0301", "301", "flk301"] {
            assert!(
                explain(Some(spelling)).unwrap().starts_with("# FLK0301: "),
                "{spelling}"
            );
        }
    }

    #[test]
    fn unknown_code_lists_the_known_ones() {
        for spelling in ["FLK9999", "nonsense", "", "99999999"] {
            let error = explain(Some(spelling)).unwrap_err();
            assert_eq!(error.code.0, 104);
            assert!(error.why.contains("FLK0301  "), "{}", error.why);
        }
    }

    /// docs/formats.md is the list of codes; every code has a page and every page a code.
    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let formats = include_str!("../../../docs/formats.md");
        let codes: Vec<&str> = formats
            .lines()
            .filter_map(|line| line.strip_prefix("| FLK"))
            .map(|line| line.split('|').next().unwrap_or_default().trim())
            .collect();
        let pages: Vec<&str> = PAGES
            .iter()
            .map(|(code, _)| code.trim_start_matches("FLK"))
            .collect();
        assert!(
            codes.len() > 30,
            "the table in docs/formats.md was not found: {codes:?}"
        );
        assert_eq!(codes, pages);
    }

    #[test]
    fn every_page_has_the_four_parts() {
        for (code, page) in PAGES {
            assert!(page.starts_with(&format!("# {code}: ")), "{code}: title");
            for part in ["\n## Example\n", "\n## Why\n", "\n## What to do\n"] {
                assert!(page.contains(part), "{code}: no {part:?}");
            }
        }
    }
}
