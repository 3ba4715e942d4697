//! `flick report`: one HTML page that says what a run predicts and why. It needs nothing but itself
//! (no network, no other file), reads on a phone, and follows the reader's light or dark theme.
//!
//! All text that comes from the program goes through [`page_names::escape`].
mod counters;
mod crossed_calls;
mod flame;
mod folds;
mod function_colours;
mod hart_states;
mod hart_table;
mod head;
mod message_table;
mod overview;
mod page_figures;
mod page_names;
mod run_totals;
mod site_table;
mod time_bar;

use std::fmt::Write as _;

use flick_events::trace::{Process, Trace};
use flick_names::Demangle;

pub(crate) use page_names::escape;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page of a trace. It is also well-formed XML.
pub fn html(trace: &Trace<'_>, demangle: Demangle) -> String {
    let title = match trace.processes.as_slice() {
        [] => "an empty trace".to_owned(),
        [process, ..] => format!(
            "{} on {}",
            page_names::file_name(&process.program),
            process.platform
        ),
    };
    let mut page = format!(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{} - Flick</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(&title)
    );
    if trace.processes.is_empty() {
        page += "<main><h1>An empty trace</h1><p>The program left no events.</p></main>\n";
    }
    for process in &trace.processes {
        section(&mut page, process, demangle);
    }
    let _ = write!(
        page,
        "<footer>Virtual time: what the named platform would take, whatever machine the run was on. \
         Made by flick {}.</footer>\n<script>//<![CDATA[\n{SCRIPT}//]]></script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

/// What there is to say of one process.
fn section(page: &mut String, process: &Process<'_>, demangle: Demangle) {
    *page += "<main>\n";
    if hart_states::is_machine(process) {
        head::title(page, process);
        *page += "</header>\n";
        hart_states::write(page, process);
        message_table::write(page, process);
        *page += "</main>\n";
        return;
    }
    let totals = run_totals::RunTotals::of(process);
    let overview = overview::Overview::of(process, &totals);
    head::write(page, process, &overview);
    time_bar::write(page, process, &overview);
    flame::write(page, process, &totals.stacks, demangle);
    overview.write(page);
    hart_table::write(page, process, &totals, demangle);
    if let Some(prediction) = &process.prediction {
        site_table::write(page, process, &prediction.sites, demangle);
    }
    crossed_calls::write(page, process, &totals.sums, demangle);
    *page += "</main>\n";
}

#[cfg(test)]
mod tests;
