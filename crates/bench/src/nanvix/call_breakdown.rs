//! Calls broken down into their parts, as `flick machine stat --calls` writes them.
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Results;
use crate::markdown;
use crate::paper::{cells, number};

const HEADER: &str = "call,place,part,calls,cycle,sum,mean,median,fetch,load,store,translation,\
                      fence,branch,device,latency,at-banks";
const PARTS: [&str; 4] = ["switch", "transfer", "wait", "work"];
/// What a part stands still for, by the columns behind the median.
const STALLS: [&str; 5] = ["fetch", "load", "store", "device", "latency"];
const STALL_COLUMNS: [usize; 5] = [8, 9, 10, 14, 15];
/// The calls that are measured, and their names in the tables of calls.
const CALLS: [(&str, &str); 3] = [
    ("local", "thread_self"),
    ("remote", "kernel_nothing"),
    ("change", "thread_wakeup"),
];

/// Mean cycles of a part of a call, and those in which it stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    mean: f64,
    stalls: [f64; STALLS.len()],
}

/// The parts of the calls of a run, by call and part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Breakdown(BTreeMap<(String, String), Part>);

impl Breakdown {
    /// Of what a run has written.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all = BTreeMap::new();
        for row in cells::<17>(text.lines(), HEADER)? {
            let [call, _, part, calls, cycle, _, mean, ..] = row;
            // A call that has not returned.
            if mean.is_empty() {
                continue;
            }
            let (calls, cycle): (f64, f64) = (number(calls)?, number(cycle)?);
            let mut found = Part {
                mean: number::<f64>(mean)? / cycle,
                ..Part::default()
            };
            for (stall, column) in found.stalls.iter_mut().zip(STALL_COLUMNS) {
                // The whole of a call, and parts in which no hart works for it, have none.
                if !row[column].is_empty() {
                    *stall = number::<f64>(row[column])? / cycle / calls;
                }
            }
            all.insert((call.to_owned(), part.to_owned()), found);
        }
        Ok(Self(all))
    }

    fn part(&self, call: &str, part: &str) -> Option<&Part> {
        self.0.get(&(call.to_owned(), part.to_owned()))
    }
}

fn figure(part: Option<&Part>) -> String {
    markdown::figure(part.map(|part| part.mean), 0)
}

/// The parts by callers, and what they stand still for.
pub fn section(results: &Results) -> String {
    let mut text = String::from(
        "Means of the parts, warm-ups included. *Switch* is the way of the caller's hart into the \
         kernel and\nback, *transfer* the lines and the interrupts, and *wait* the time until the \
         kernel hart takes the\ncall.\n",
    );
    for (name, call) in CALLS {
        let mut lines = vec![vec!["callers".to_owned(), format!("{name}, cycles")]];
        lines[0].extend(PARTS.map(str::to_owned));
        for (callers, breakdown) in &results.breakdown {
            let mut line = vec![callers.to_string(), figure(breakdown.part(call, "total"))];
            line.extend(PARTS.map(|part| figure(breakdown.part(call, part))));
            lines.push(line);
        }
        let _ = write!(text, "\n{}", markdown::table(&lines));
    }
    let mut lines = vec![vec!["of which stalls".to_owned(), "callers".to_owned()]];
    lines[0].extend(STALLS.map(str::to_owned));
    for (name, call) in CALLS {
        for part in ["switch", "work"] {
            for (callers, breakdown) in results
                .breakdown
                .iter()
                .filter(|(n, _)| [1, 14].contains(n))
            {
                let Some(found) = breakdown.part(call, part) else {
                    continue;
                };
                let mut line = vec![format!("{part} of {name}"), callers.to_string()];
                line.extend(found.stalls.map(|cycles| markdown::figure(Some(cycles), 1)));
                lines.push(line);
            }
        }
    }
    let _ = write!(text, "\n{}", markdown::table(&lines));
    text
}

/// The same for programs.
pub fn csv(results: &Results) -> String {
    let mut text = format!("callers,call,part,cycles,{}\n", STALLS.join(","));
    for (callers, breakdown) in &results.breakdown {
        for ((call, part), found) in &breakdown.0 {
            let _ = write!(text, "{callers},{call},{part},{:.3}", found.mean);
            for stall in found.stalls {
                let _ = write!(text, ",{stall:.3}");
            }
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_of_picoseconds() {
        let text = format!(
            "{HEADER}\nkernel_nothing,kernel,total,2,2500,2000000,1000000.0,1000000,,,,,,,,,\n\
             kernel_nothing,kernel,switch,2,2500,885000,442500.0,442500,5000,0,0,0,0,0,0,10000,0\n\
             process_end,unfinished,,1,,,,,,,,,,,,,\n"
        );
        let breakdown = Breakdown::parse(&text).unwrap();
        let part = |part| *breakdown.part("kernel_nothing", part).unwrap();
        assert_eq!(part("total").mean, 400.0);
        assert_eq!(part("switch").mean, 177.0);
        assert_eq!(part("switch").stalls, [1.0, 0.0, 0.0, 0.0, 2.0]);
        assert!(Breakdown::parse("call,place\n").is_err());
    }
}
