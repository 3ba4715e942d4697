//! The summary as text: what `FLICK_STATS=1` prints at exit and `flick stat` after a run.
use std::fmt::{self, Display, Formatter};

use crate::number::{bytes, counted, grouped};
use flick_names::Demangle;

use crate::{Calls, Cause, Heap, Migrations, Offload, Summary, Trigger};

/// How many functions a list shows before the rest becomes one line.
const LONGEST_LIST: usize = 30;
/// Characters of a name after which its line is out of line.
const WIDEST_NAME: usize = 60;

/// How many instructions the host has executed in user mode, the engine's among them; or why nobody
/// knows.
pub type HostInstructions = Result<u64, String>;

/// Why NxP code found a function on the host, where that is known.
pub type WhyHost<'a> = dyn Fn(&Calls) -> Option<String> + 'a;

/// What to show of a summary, and what its reader knows beyond it.
#[derive(Clone, Copy, Default)]
pub struct View<'a> {
    /// Leave no function out of the lists.
    pub all: bool,
    /// Whether names of C++ are shown as in the source.
    pub demangle: Demangle,
    /// Missing where nobody has counted.
    pub host_instructions: Option<&'a HostInstructions>,
    /// Missing where the reasons are not asked for.
    pub why_host: Option<&'a WhyHost<'a>>,
    /// Why offload is off, where that is more than the summary says.
    pub why_off: Option<&'a str>,
    /// Lines to put below the two times of a timed run.
    pub below_times: Option<&'a str>,
}

/// [`Summary`] as text of several lines; each ends in a newline.
pub struct Text<'a> {
    summary: &'a Summary,
    view: View<'a>,
}

impl Summary {
    /// Text for people.
    pub fn text<'a>(&'a self, view: View<'a>) -> Text<'a> {
        Text {
            summary: self,
            view,
        }
    }
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = self.summary;
        writeln!(f, "\n Flick summary of {} (pid {}):\n", s.program, s.pid)?;
        match &s.offload {
            Offload::On => setting(f, "offload", "on")?,
            Offload::Off(why) => {
                let why = self.view.why_off.unwrap_or(why);
                setting(f, "offload", &format!("off ({why})"))?;
            }
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
        table.count(s.crossings(), "crossing", "");
        table.count(calls_in, "call", " host -> NxP");
        table.count(calls_out, "call", " NxP -> host");
        table.count(s.faults, "migration fault", "");
        let on_host = s.on_host_calls();
        if on_host > 0 {
            table.count(on_host, "call", " of placed functions on the host");
        }
        if s.instructions > 0 {
            let per_call = match s.instructions.checked_div(calls_in) {
                Some(n) => format!("{} per call", grouped(n)),
                None => String::new(),
            };
            match s.engine.as_str() {
                "ahead" => {
                    let remark = "code that the link has translated does not count";
                    let what = "interpreted NxP instructions";
                    table.row(grouped(s.instructions), what, remark);
                }
                _ => table.row(grouped(s.instructions), "NxP instructions", &per_call),
            }
        }
        match self.view.host_instructions {
            None => {}
            Some(Ok(host)) => {
                let what = "host instructions";
                table.row(grouped(*host), what, "in user mode, the engine's included");
                let all = host.saturating_add(s.instructions);
                if all > 0 {
                    let share = s.instructions as f64 * 100.0 / all as f64;
                    table.row(format!("{share:.1} %"), "share of NxP instructions", "");
                }
            }
            Some(Err(why)) => {
                let why = format!("not known: {why}");
                table.row("-".into(), "share of NxP instructions", &why);
            }
        }
        if let Some(ratio) = s.translation_ratio() {
            let (code, tables) = (bytes(s.translated), bytes(s.translation_tables));
            let remark = format!("{ratio:.1} times the {code} of RV64 code used; tables {tables}");
            table.row(bytes(s.translation), "translated code", &remark);
        }
        table.count(s.threads, "thread", " with an NxP stack");
        let of_region = format!("of {} reserved", bytes(s.region_size));
        table.row(bytes(s.heap_peak), "peak NxP heap", &of_region);
        table.row(bytes(s.stack_peak), "peak NxP stacks", "");
        table.write(f)?;

        let rows = s.host_to_nxp.iter().map(|c| (c, "on nxp".into(), None));
        self.list(f, "host -> NxP, by function", rows.collect())?;
        let rows = s.nxp_to_host.iter().map(|c| {
            let why = self.view.why_host.and_then(|why| why(c));
            // By way of the host to another tile of a card.
            let is_same = |gate: &Calls| (&gate.function, &gate.module) == (&c.function, &c.module);
            let is_gate = s.card.is_some() && s.host_to_nxp.iter().any(is_same);
            let side = if is_gate { "on nxp" } else { "on host" };
            (c, side.into(), why)
        });
        self.list(f, "NxP -> host, by target", rows.collect())?;
        let off = match &s.offload {
            Offload::Off(why) => self.view.why_off.unwrap_or(why),
            Offload::On => "offload is off",
        };
        let rows = s.on_host.iter().map(|(cause, c)| {
            let why = match cause {
                Cause::Off => off,
                Cause::Early => "called before Flick's constructor ran",
            };
            (c, "on host".into(), Some(why.to_owned()))
        });
        self.list(
            f,
            "ran on the host although placed on the NxP",
            rows.collect(),
        )?;

        if let Some(card) = &s.card {
            card.text(f, self.view.demangle)?;
        }
        self.migrations(f)?;
        if let Some(timed) = &s.timed {
            let text = crate::timed_render::Text {
                timed,
                demangle: self.view.demangle,
                all: self.view.all,
                below_times: self.view.below_times.unwrap_or_default(),
            };
            write!(f, "{text}")?;
        }

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
    rows: Vec<(String, String, String)>,
}

impl Table {
    fn row(&mut self, number: String, what: &str, remark: &str) {
        self.rows.push((number, what.to_owned(), remark.to_owned()));
    }

    /// A number of things; `which` follows their name.
    fn count(&mut self, number: u64, thing: &str, which: &str) {
        let what = match counted(number, thing).split_once(' ') {
            Some((_, things)) => format!("{things}{which}"),
            None => String::new(),
        };
        self.row(grouped(number), &what, "");
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

/// A function, where it ran, and why there.
type Row<'a> = (&'a Calls, String, Option<String>);

impl Text<'_> {
    /// Functions, most calls first.
    fn list(&self, f: &mut Formatter<'_>, title: &str, mut rows: Vec<Row<'_>>) -> fmt::Result {
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_by(|(a, ..), (b, ..)| {
            b.count
                .cmp(&a.count)
                .then_with(|| (&a.function, &a.module).cmp(&(&b.function, &b.module)))
        });
        let shown = if self.view.all {
            rows.len()
        } else {
            rows.len().min(LONGEST_LIST)
        };
        let names: Vec<_> = rows[..shown]
            .iter()
            .map(|(c, ..)| self.view.demangle.apply(&c.function))
            .collect();
        let width = names.iter().map(|name| name.chars().count()).max();
        // One very long C++ name does not push every other line out of sight.
        let width = width.unwrap_or(0).min(WIDEST_NAME);
        writeln!(f, "\n {:>20}  {title}", "calls")?;
        for ((c, ran, why), name) in rows[..shown].iter().zip(&names) {
            write!(f, " {:>20}  {name:<width$}  {ran}", grouped(c.count))?;
            if !c.module.is_empty() {
                write!(f, ", {}", c.module)?;
            }
            match why {
                Some(why) => writeln!(f, ": {why}")?,
                None => writeln!(f)?,
            }
        }
        if shown < rows.len() {
            let rest = rows[shown..]
                .iter()
                .fold(0u64, |n, (c, ..)| n.saturating_add(c.count));
            let more = counted((rows.len() - shown) as u64, "more function");
            writeln!(f, " {:>20}  in {more}", grouped(rest))?;
        }
        Ok(())
    }
}

/// Migrations that take more than this part of the harts' instructions are thrashing.
const THRASHES: f64 = 0.05;

impl Text<'_> {
    /// Instructions that threads moved to other harts for, the most frequent first.
    fn migrations(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let s = self.summary;
        let mut rows: Vec<&Migrations> = s.migrations.iter().collect();
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_by(|a, b| (b.count, &a.place).cmp(&(a.count, &b.place)));
        writeln!(
            f,
            "\n {:>20}  {:>10}  {:>13}  {:>13}  migrations to harts with an extension",
            "count", "a thousand", "instructions", "staying saves"
        )?;
        let shown = if self.view.all {
            rows.len()
        } else {
            LONGEST_LIST
        };
        for m in rows.iter().take(shown) {
            writeln!(
                f,
                " {:>20}  {:>10.3}  {:>13}  {:>13}  {}: {}",
                grouped(m.count),
                1e3 * m.count as f64 / s.instructions.max(1) as f64,
                grouped(m.cost),
                grouped(saved(m)),
                self.view.demangle.apply(&m.place),
                m.instruction
            )?;
        }
        let spent: u64 = rows.iter().map(|m| saved(m)).sum();
        let share = spent as f64 / (spent + s.instructions).max(1) as f64;
        if share > THRASHES {
            writeln!(
                f,
                " thrashing: threads that stay on harts with the extensions would save {:.0} % of the harts' \
                 instructions",
                100.0 * share
            )?;
        }
        Ok(())
    }
}

/// What a thread would save by staying.
fn saved(m: &Migrations) -> u64 {
    (m.cost as f64 * m.avoidable() as f64 / m.count.max(1) as f64) as u64
}

#[cfg(test)]
mod tests {
    #[test]
    fn thrashing_is_named() {
        let mut s = Summary {
            migrations: vec![Migrations {
                count: 200,
                threads: 2,
                cost: 200_000,
                instruction: "sh3add (zba)".into(),
                place: "a.c:4".into(),
            }],
            instructions: 10_000,
            ..Summary::default()
        };
        let text = s.text(View::default()).to_string();
        let row = "200      20.000        200,000        198,000  a.c:4: sh3add (zba)\n";
        assert!(text.contains(row), "{text}");
        assert!(
            text.contains(" thrashing: ") && text.contains(" 95 % "),
            "{text}"
        );
        // Each thread has moved once.
        s.migrations[0].threads = 200;
        let text = s.text(View::default()).to_string();
        assert!(
            text.contains(" 0  a.c:4") && !text.contains("thrashing"),
            "{text}"
        );
    }

    use super::*;

    fn calls(function: &str, module: &str, count: u64) -> Calls {
        Calls {
            function: function.into(),
            module: module.into(),
            count,
        }
    }

    #[test]
    fn one_is_singular() {
        let s = Summary {
            host_to_nxp: vec![calls("bfs", "bfs", 1)],
            nxp_to_host: vec![calls("free", "", 1)],
            on_host: vec![(Cause::Off, calls("bfs", "bfs", 1))],
            faults: 1,
            threads: 1,
            ..Summary::default()
        };
        let text = s.text(View::default()).to_string();
        for row in [
            "4  crossings",
            "1  call host -> NxP",
            "1  call NxP -> host",
            "1  migration fault",
            "1  call of placed functions on the host",
            "1  thread with an NxP stack",
        ] {
            assert!(text.contains(&format!(" {row}\n")), "{row}: {text}");
        }
    }

    #[test]
    fn text_of_a_run() {
        let s = Summary {
            program: "./bfs".into(),
            pid: 7,
            engine: "translate".into(),
            backend: "inline".into(),
            translated: 2 << 10,
            translation: 7 << 10,
            translation_tables: 1 << 10,
            translations: 3,
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
   engine      translate, backend inline
   NxP malloc  NxP-local memory

            2,469,156  crossings
                   10  calls host -> NxP
            1,234,568  calls NxP -> host
                    0  migration faults
           20,000,000  NxP instructions          # 2,000,000 per call
             7.00 KiB  translated code           # 3.5 times the 2.00 KiB of RV64 code used; tables 1.00 KiB
                    1  thread with an NxP stack
             3.00 MiB  peak NxP heap             # of 64.0 GiB reserved
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
        assert_eq!(s.text(View::default()).to_string(), want);
    }

    #[test]
    fn reasons_are_shown() {
        let s = Summary {
            offload: Offload::Off("FLICK_OFFLOAD=off".into()),
            heap: Heap::Host("valgrind".into()),
            trigger: Trigger::Fault,
            ..Summary::default()
        };
        let text = s.text(View::default()).to_string();
        assert!(
            text.contains("offload     off (FLICK_OFFLOAD=off)\n"),
            "{text}"
        );
        assert!(text.contains("NxP malloc  host (valgrind)\n"), "{text}");
        assert!(text.contains("trigger     fault\n"), "{text}");
    }

    #[test]
    fn placed_functions_on_the_host_have_a_reason() {
        let s = Summary {
            offload: Offload::Off("FLICK_OFFLOAD=off".into()),
            on_host: vec![
                (Cause::Off, calls("_Z3addii", "prog", 3)),
                (Cause::Early, calls("init", "prog", 1)),
            ],
            nxp_to_host: vec![calls("puts", "libc.so.6", 2)],
            ..Summary::default()
        };
        let why = |c: &Calls| (c.function == "puts").then(|| "not Flick's".to_owned());
        let text = s.text(View {
            why_host: Some(&why),
            ..View::default()
        });
        let text = text.to_string();
        for part in [
            " 4  calls of placed functions on the host\n",
            " 3  add(int, int)  on host, prog: FLICK_OFFLOAD=off\n",
            " 1  init           on host, prog: called before Flick's constructor ran\n",
            " 2  puts  on host, libc.so.6: not Flick's\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let view = View {
            demangle: Demangle::No,
            ..View::default()
        };
        assert!(s.text(view).to_string().contains("_Z3addii  on host"));
    }

    #[test]
    fn share_of_instructions() {
        let s = Summary {
            instructions: 1_000,
            ..Summary::default()
        };
        let of = |host: HostInstructions| {
            let view = View {
                host_instructions: Some(&host),
                ..View::default()
            };
            s.text(view).to_string()
        };
        let known = of(Ok(3_000));
        assert!(
            known.contains("25.0 %  share of NxP instructions"),
            "{known}"
        );
        assert!(known.contains("3,000  host instructions"), "{known}");
        let unknown = of(Err("no counter".into()));
        assert!(
            unknown.contains("share of NxP instructions  # not known: no counter"),
            "{unknown}"
        );
    }

    #[test]
    fn long_lists_end_in_a_total() {
        let s = Summary {
            nxp_to_host: (0..100)
                .map(|i| calls(&format!("f{i}"), "", 1000 - i))
                .collect(),
            ..Summary::default()
        };
        let text = s.text(View::default()).to_string();
        assert!(text.contains(" 65,485  in 70 more functions\n"), "{text}");
        assert!(!text.contains(" f30 "), "{text}");
        let all = s
            .text(View {
                all: true,
                ..View::default()
            })
            .to_string();
        assert!(
            all.contains(" f99 ") && !all.contains("more functions"),
            "{all}"
        );
    }
}
