//! `flick explain`: the pages of docs/errors, by code.
use std::fmt::Write as _;

use flick_diagnostics::Code;
use flick_driver::Error;
use flick_report::json::document;
use serde_json::json;

/// Each code and its page, by code.
const PAGES: &[(Code, &str)] = &include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code (`FLK0103`, `flk103`, `103`); without one a line for each code. FLK0104 for a
/// code that is not there.
pub fn explain(code: Option<&str>, as_json: bool) -> Result<String, Error> {
    let Some(asked) = code else {
        let codes = Code::ALL.iter();
        let codes = codes.map(|code| json!({ "code": code.text(), "title": code.title() }));
        return Ok(match as_json {
            true => document("explain", json!({ "codes": codes.collect::<Vec<_>>() })),
            false => list(),
        });
    };
    let digits = asked.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let page = digits
        .parse::<u16>()
        .ok()
        .and_then(Code::of_number)
        .and_then(|code| PAGES.iter().find(|(known, _)| *known == code));
    let text = |(code, page): &(Code, &str)| match as_json {
        true => {
            let code = json!({ "code": code.text(), "title": code.title(), "page": page });
            document("explain", json!({ "codes": [code] }))
        }
        false => (*page).to_owned(),
    };
    page.map(text).ok_or_else(|| {
        Error::new(
            Code::BadOption,
            "there is no such error code",
            asked,
            format!("the codes are:\n{}", list().trim_end()),
            format!("flick explain {EXAMPLE} prints the page of {EXAMPLE}"),
        )
    })
}

/// The code of the help text.
const EXAMPLE: Code = Code::PlainLink;

/// Code and title of every page.
fn list() -> String {
    Code::ALL.iter().fold(String::new(), |mut text, code| {
        let _ = writeln!(text, "{code}  {}", code.title());
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
                explain(Some(spelling), false)
                    .unwrap()
                    .starts_with("# FLK0301: "),
                "{spelling}"
            );
        }
    }

    #[test]
    fn unknown_code_lists_the_known_ones() {
        for spelling in ["FLK9999", "nonsense", "", "99999999"] {
            let error = explain(Some(spelling), true).unwrap_err();
            assert_eq!(error.code, Code::BadOption);
            assert!(error.why.contains("FLK0301  "), "{}", error.why);
        }
    }
}
