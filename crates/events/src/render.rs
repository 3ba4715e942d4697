//! The summary as text: what `FLICK_STATS=1` prints at exit and `flick stat` after a run.
use std::fmt::{self, Display, Formatter};

use crate::number::{bytes, grouped};
use crate::{Calls, Heap, Offload, Summary, Trigger};

/// How many functions a list shows before the rest becomes one line.
const LONGEST_LIST: usize = 30;

/// [`Summary`] as text of several lines; each ends in a newline.
pub struct Text<'a> {
    summary: &'a Summary,
    all: bool,
}

impl Summary {
    /// Text for people. With `all` no function is left out of the lists.
    pub fn text(&self, all: bool) -> Text<'_> {
        Text { summary: self, all }
    }
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = self.summary;
        writeln!(f, "\n Flick summary of {} (pid {}):\n", s.program, s.pid)?;
        match &s.offload {
            Offload::On => setting(f, "offload", "on")?,
            Offload::Off(why) => setting(f, "offload", &format!("off ({why})"))?,
        }
        let trigger = match s.trigger {
            Trigger::Gate => "gate",
            Trigger::Fault => "fault",
        };
        setting(f, "trigger", trigger)?;
        if !s.engine.is_empty() {
            setting(f, "engine", &format!("{}, backend {}", s.engine, s.backend))?;
        }
        match &s.heap {
            Heap::Nxp => setting(f, "NxP malloc", "NxP-local memory")?,
            Heap::Host(why) => setting(f, "NxP malloc", &format!("host ({why})"))?,
        }
        writeln!(f)?;

        let calls_in = s.host_to_nxp_calls();
        let calls_out = s.nxp_to_host_calls();
        let mut table = Table::default();
        table.row(grouped(s.crossings()), "crossings", "");
        table.row(grouped(calls_in), "calls host -> NxP", "");
        table.row(grouped(calls_out), "calls NxP -> host", "");
        table.row(grouped(s.faults), "migration faults", "");
        if s.twin_calls > 0 {
            table.row(grouped(s.twin_calls), "calls that ran the host twin", "");
        }
        if s.instructions > 0 {
            let per_call = match s.instructions.checked_div(calls_in) {
                Some(n) => format!("{} per call", grouped(n)),
                None => String::new(),
            };
            table.row(grouped(s.instructions), "NxP instructions", &per_call);
        }
        table.row(grouped(s.threads), "threads with an NxP stack", "");
        let of_region = format!("of {} reserved", bytes(s.region_size));
        table.row(bytes(s.heap_peak), "peak NxP heap", &of_region);
        table.row(bytes(s.stack_peak), "peak NxP stacks", "");
        table.write(f)?;

        list(
            f,
            "host -> NxP, by function",
            "nxp",
            &s.host_to_nxp,
            self.all,
        )?;
        list(
            f,
            "NxP -> host, by target",
            "host",
            &s.nxp_to_host,
            self.all,
        )?;

        writeln!(f)?;
        for (time, what) in [(s.elapsed, "elapsed"), (s.user, "user"), (s.system, "sys")] {
            let time = format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
            writeln!(f, " {time:>20}  seconds {what}")?;
        }
        writeln!(f)
    }
}

fn setting(f: &mut Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    writeln!(f, "   {name:<11} {value}")
}

/// Right-aligned numbers, what they count, and a remark.
#[derive(Default)]
struct Table {
    rows: Vec<(String, &'static str, String)>,
}

impl Table {
    fn row(&mut self, number: String, what: &'static str, remark: &str) {
        self.rows.push((number, what, remark.to_owned()));
    }

    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|r| r.1.len()).max().unwrap_or(0);
        for (number, what, remark) in &self.rows {
            if remark.is_empty() {
                writeln!(f, " {number:>20}  {what}")?;
            } else {
                writeln!(f, " {number:>20}  {what:<width$}  # {remark}")?;
            }
        }
        Ok(())
    }
}

/// The functions of one direction, most calls first, with where each ran.
fn list(f: &mut Formatter<'_>, title: &str, ran: &str, calls: &[Calls], all: bool) -> fmt::Result {
    if calls.is_empty() {
        return Ok(());
    }
    let mut sorted: Vec<&Calls> = calls.iter().collect();
    sorted.sort_by(|a, b| {
        b.count
            .cmp(&a.count)
            .then_with(|| (&a.function, &a.module).cmp(&(&b.function, &b.module)))
    });
    let shown = if all {
        sorted.len()
    } else {
        sorted.len().min(LONGEST_LIST)
    };
    let width = sorted[..shown]
        .iter()
        .map(|c| c.function.chars().count())
        .max()
        .unwrap_or(0);
    writeln!(f, "\n {:>20}  {title}", "calls")?;
    for c in &sorted[..shown] {
        let count = grouped(c.count);
        if c.module.is_empty() {
            writeln!(f, " {count:>20}  {:<width$}  on {ran}", c.function)?;
        } else {
            writeln!(
                f,
                " {count:>20}  {:<width$}  on {ran}, {}",
                c.function, c.module
            )?;
        }
    }
    if shown < sorted.len() {
        let rest = sorted[shown..]
            .iter()
            .fold(0u64, |n, c| n.saturating_add(c.count));
        writeln!(
            f,
            " {:>20}  in {} more functions",
            grouped(rest),
            sorted.len() - shown
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(function: &str, module: &str, count: u64) -> Calls {
        Calls {
            function: function.into(),
            module: module.into(),
            count,
        }
    }

    #[test]
    fn text_of_a_run() {
        let s = Summary {
            program: "./bfs".into(),
            pid: 7,
            engine: "interp".into(),
            backend: "inline".into(),
            host_to_nxp: vec![calls("bfs", "bfs", 10)],
            nxp_to_host: vec![calls("free", "", 1), calls("visit", "bfs", 1_234_567)],
            instructions: 20_000_000,
            threads: 1,
            region_size: 64 << 30,
            heap_peak: 3 << 20,
            stack_peak: 8 << 20,
            elapsed: 1_500_000_000,
            user: 1_400_000_001,
            ..Summary::default()
        };
        let want = "
 Flick summary of ./bfs (pid 7):

   offload     on
   trigger     gate
   engine      interp, backend inline
   NxP malloc  NxP-local memory

            2,469,156  crossings
                   10  calls host -> NxP
            1,234,568  calls NxP -> host
                    0  migration faults
           20,000,000  NxP instructions           # 2,000,000 per call
                    1  threads with an NxP stack
             3.00 MiB  peak NxP heap              # of 64.0 GiB reserved
             8.00 MiB  peak NxP stacks

                calls  host -> NxP, by function
                   10  bfs  on nxp, bfs

                calls  NxP -> host, by target
            1,234,567  visit  on host, bfs
                    1  free   on host

          1.500000000  seconds elapsed
          1.400000001  seconds user
          0.000000000  seconds sys

";
        assert_eq!(s.text(false).to_string(), want);
    }

    #[test]
    fn reasons_are_shown() {
        let s = Summary {
            offload: Offload::Off("FLICK_OFFLOAD=off".into()),
            heap: Heap::Host("valgrind".into()),
            trigger: Trigger::Fault,
            ..Summary::default()
        };
        let text = s.text(false).to_string();
        assert!(
            text.contains("offload     off (FLICK_OFFLOAD=off)\n"),
            "{text}"
        );
        assert!(text.contains("NxP malloc  host (valgrind)\n"), "{text}");
        assert!(text.contains("trigger     fault\n"), "{text}");
    }

    #[test]
    fn long_lists_end_in_a_total() {
        let s = Summary {
            nxp_to_host: (0..100)
                .map(|i| calls(&format!("f{i}"), "", 1000 - i))
                .collect(),
            ..Summary::default()
        };
        let text = s.text(false).to_string();
        assert!(text.contains(" 65,485  in 70 more functions\n"), "{text}");
        assert!(!text.contains(" f30 "), "{text}");
        let all = s.text(true).to_string();
        assert!(
            all.contains(" f99 ") && !all.contains("more functions"),
            "{all}"
        );
    }
}
