//! The table of messages between the tiles of a machine.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use flick_events::number::grouped;
use flick_events::trace::{Process, What};

use super::page_figures::{time, time_of};
use super::page_names::escape;
use crate::timeline;

/// Rows of the table.
const MOST: usize = 40;

/// Messages of one name between the same tiles.
#[derive(Default)]
struct Row {
    count: u64,
    /// Picoseconds under way.
    sum: u64,
    longest: u64,
}

/// Writes the table, if there are messages.
pub fn write(page: &mut String, process: &Process<'_>) {
    let mut rows: BTreeMap<(u32, u32, u32), Row> = BTreeMap::new();
    for thread in &process.threads {
        thread.each(|event| {
            if let What::Message {
                from,
                under_way,
                id,
            } = event.what
            {
                let row = rows.entry((from, thread.id, id)).or_default();
                row.count += 1;
                row.sum = row.sum.saturating_add(under_way);
                row.longest = row.longest.max(under_way);
            }
        });
    }
    if rows.is_empty() {
        return;
    }
    *page += "<section>\n<h2>Messages</h2>\n<table>\n<tr><th scope=\"col\">from</th><th scope=\"col\">to</th>\
        <th scope=\"col\">message</th><th scope=\"col\" class=\"number\">times</th>\
        <th scope=\"col\" class=\"number\">mean way</th><th scope=\"col\" class=\"number\">longest</th></tr>\n";
    let tile = |id: u32| {
        let mut threads = process.threads.iter();
        let thread = threads.find(|thread| thread.id == id);
        thread.map_or_else(|| "?".into(), timeline::name_of)
    };
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.count));
    for ((from, to, id), row) in rows.iter().take(MOST) {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escape(&tile(*from)),
            escape(&tile(*to)),
            escape(process.name(*id).map_or("?", |name| &name.text)),
            grouped(row.count),
            time_of(row.sum as f64 / row.count as f64),
            time(row.longest)
        );
    }
    *page += "</table>\n</section>\n";
}
