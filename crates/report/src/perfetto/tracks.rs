//! Which tracks there are, and what is on them.
use std::collections::{BTreeMap, HashMap};
use std::io;

use flick_events::trace::{IDLE, Lanes, Name, Parts, Process, Row, Rows, Scope, Side, Thread};

use super::message_arrows;
use super::proto::{
    ChildOrdering, DebugAnnotation, EventType, ProcessDescriptor, TrackDescriptor, TrackEvent,
};
use super::wake_ups::WakeUps;
use super::writer::{Value, Writer};
use crate::timeline::{self, Back, Callee, Span, Step};

/// Writes the tracks of a process and of its threads.
pub fn process(process: &Process<'_>, writer: &mut Writer<'_>) -> io::Result<()> {
    let file = process.program.rsplit('/').next().unwrap_or_default();
    let track = writer.track(TrackDescriptor {
        process: Some(ProcessDescriptor {
            pid: i32::try_from(process.pid).ok(),
            process_name: Some(format!("{file} on {}", process.platform)),
        }),
        child_ordering: Some(ChildOrdering::Explicit as i32),
        ..TrackDescriptor::default()
    })?;
    let mut counters = Counters {
        parent: track,
        tracks: HashMap::new(),
    };
    let mut wake_ups = WakeUps::of(process, || writer.flow());
    for (index, thread) in process.threads.iter().enumerate() {
        let name = timeline::name_of(thread);
        let mut side = |side: &str, rank: usize| {
            writer.track(TrackDescriptor {
                name: Some(format!("{name}{side}")),
                parent_uuid: Some(track),
                sibling_order_rank: i32::try_from(2 * index + rank).ok(),
                ..TrackDescriptor::default()
            })
        };
        // A hart has one track.
        let (host, nxp) = match thread.is_tile {
            true => {
                let hart = side("", 0)?;
                (hart, hart)
            }
            false => (side(": host", 0)?, side(": NxP", 1)?),
        };
        let mut tracks = Tracks {
            process,
            thread: (name.clone(), thread.id),
            host,
            nxp,
            wake_ups: &mut wake_ups,
            writer,
        };
        tracks.thread(thread, &mut counters)?;
    }
    message_arrows::write(process, track, writer)
}

/// Tracks of counters, by thread (`None` for the process's) and number.
struct Counters {
    parent: u64,
    tracks: HashMap<(Option<u32>, u32), u64>,
}

/// The two tracks of a thread.
struct Tracks<'a, 'p, 'w, 'o> {
    process: &'a Process<'p>,
    /// Name and number.
    thread: (String, u32),
    host: u64,
    nxp: u64,
    wake_ups: &'w mut WakeUps,
    writer: &'w mut Writer<'o>,
}

impl Tracks<'_, '_, '_, '_> {
    fn thread(&mut self, thread: &Thread<'_>, counters: &mut Counters) -> io::Result<()> {
        let mut result = Ok(());
        timeline::walk(thread, |step| {
            if result.is_ok() {
                result = match step {
                    Step::State { span, id, thread } => self.state(span, id, thread),
                    step => self.step(step, counters),
                };
            }
        });
        result
    }

    fn step(&mut self, step: Step<'_>, counters: &mut Counters) -> io::Result<()> {
        match step {
            Step::Start { time } => {
                let name = self.writer.event_name("thread starts");
                self.instant(self.host, time, name)
            }
            Step::Call {
                span,
                callee,
                parts,
            } => self.call(span, callee, parts),
            Step::Back {
                span,
                callee,
                back,
                parts,
            } => self.back(span, callee, back, parts),
            Step::Wait { span, side, core } => {
                let name = self.writer.event_name("waits for an NxP core");
                let core = Value::Number(core.into());
                let core = self.writer.annotation("core", core);
                let track = self.track(side);
                let event = TrackEvent {
                    name_iid: name,
                    debug_annotations: vec![core, self.picoseconds(span.duration())],
                    ..TrackEvent::default()
                };
                self.writer.begin(track, span.begin, event)?;
                self.writer.end(track, span.end)
            }
            Step::Way { span, side, hart } => {
                let track = self.track(side);
                let name = self.writer.event_name(match hart {
                    Some(_) => "to a hart of the card",
                    None => "from the card",
                });
                let hart = hart.map(|hart| Value::Number(hart.into()));
                let hart = hart.map(|hart| self.writer.annotation("hart", hart));
                let event = TrackEvent {
                    name_iid: name,
                    debug_annotations: hart
                        .into_iter()
                        .chain([self.picoseconds(span.duration())])
                        .collect(),
                    ..TrackEvent::default()
                };
                self.writer.begin(track, span.begin, event)?;
                self.writer.end(track, span.end)
            }
            Step::Counter {
                time,
                scope,
                id,
                value,
            } => {
                let track = self.counter(scope, id, counters)?;
                let event = TrackEvent {
                    counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
                    ..TrackEvent::default()
                };
                self.writer.event(track, time, EventType::Counter, event)
            }
            Step::Sum { span, lanes, rows } => self.sum(span, lanes, rows),
            Step::State { .. } | Step::End { .. } => Ok(()),
        }
    }

    /// A slice in place of events. It has the number of calls, and in it the calls by function.
    fn sum(&mut self, span: Span, lanes: Lanes, rows: Rows<'_>) -> io::Result<()> {
        let name = self.writer.event_name("in short: sums of crossings");
        let calls = rows.map(|row| match row {
            Row::Call { function, sum, .. } => (function, sum.calls),
            Row::Begun { .. } | Row::State { .. } => (0, 0),
        });
        let mut functions: BTreeMap<String, u64> = BTreeMap::new();
        for (function, calls) in calls.filter(|&(_, calls)| calls > 0) {
            let sum = functions.entry(self.name(function)).or_default();
            *sum = sum.saturating_add(calls);
        }
        let mut notes = Vec::new();
        for (name, times) in ["host", "NxP"].into_iter().zip(lanes) {
            for (doing, time) in ["computes", "waits", "crosses"].into_iter().zip(times) {
                if time > 0 {
                    let text = Value::Text(format!("{time} ps"));
                    notes.push(self.writer.annotation(&format!("{name} {doing}"), text));
                }
            }
        }
        for (function, calls) in functions {
            let calls = Value::Number(calls);
            notes.push(
                self.writer
                    .annotation(&format!("calls of {function}"), calls),
            );
        }
        let event = TrackEvent {
            name_iid: name,
            debug_annotations: notes,
            ..TrackEvent::default()
        };
        // Of several with rows of one interval the first has its times.
        let is_first = lanes.iter().flatten().any(|&time| time > 0);
        let begin = if is_first { span.begin } else { span.end };
        self.writer.begin(self.host, begin, event)?;
        self.writer.end(self.host, span.end)
    }

    /// A state of a hart. On a card it has the thread whose code the hart executes.
    fn state(&mut self, span: Span, id: u32, thread: Option<u32>) -> io::Result<()> {
        let name = self.name(id);
        let is_idle = self.process.name(id).is_some_and(|name| name.text == IDLE);
        let mut threads = self.process.threads.iter();
        let owner = threads.find(|of| !is_idle && Some(of.id) == thread);
        let owner = owner.map(|owner| Value::Text(timeline::name_of(owner)));
        let owner = owner.map(|owner| self.writer.annotation("thread", owner));
        let event = TrackEvent {
            name_iid: self.writer.event_name(&name),
            debug_annotations: owner.into_iter().collect(),
            flow_ids: self.wake_ups.from(self.thread.1, span.begin),
            terminating_flow_ids: self.wake_ups.to(self.thread.1, span.begin),
            ..TrackEvent::default()
        };
        self.writer.begin(self.host, span.begin, event)?;
        self.writer.end(self.host, span.end)
    }

    /// On the track that the thread leaves a slice for the whole call begins, and in it lies one
    /// for the way there, from which an arrow leads to the function's slice on the other track.
    fn call(&mut self, span: Span, callee: Callee, parts: Parts<'_>) -> io::Result<()> {
        let function = self.name(callee.function);
        let site = self.process.name(callee.site).cloned();
        let (from, to) = (self.track(callee.from), self.track(callee.side));
        let away = self.writer.event_name(&match callee.side {
            Side::Host => format!("{function} (on the host)"),
            Side::Nxp => format!("{function} (on the NxP)"),
        });
        let source = site.as_ref().and_then(|site| self.writer.location(site));
        let caller = site.as_ref().map(|site| self.caller(site));
        let event = TrackEvent {
            name_iid: away,
            source_location_iid: source,
            debug_annotations: caller.into_iter().collect(),
            ..TrackEvent::default()
        };
        self.writer.begin(from, span.begin, event)?;

        let way = self.writer.event_name(match callee.side {
            Side::Host => "to the host",
            Side::Nxp => "to the NxP",
        });
        let flow = self.way(from, span, way, parts)?;
        let source = self
            .process
            .name(callee.function)
            .and_then(|function| self.writer.location(function));
        let event = TrackEvent {
            name_iid: self.writer.event_name(&function),
            source_location_iid: source,
            terminating_flow_ids: vec![flow],
            ..TrackEvent::default()
        };
        self.writer.begin(to, span.end, event)
    }

    /// The other way round; the arrow back leads to an instant.
    fn back(
        &mut self,
        span: Span,
        callee: Callee,
        back: Back,
        parts: Option<Parts<'_>>,
    ) -> io::Result<()> {
        let (from, to) = (self.track(callee.from), self.track(callee.side));
        self.writer.end(to, span.begin)?;
        // What a jump went past, or never ended, was not on its way.
        let Some(parts) = parts else {
            return self.writer.end(from, span.end);
        };
        let how = match back {
            Back::Jump => "back by a jump",
            Back::Return | Back::Never => "back",
        };
        let name = self.writer.event_name(how);
        let flow = self.way(to, span, name, parts)?;
        let event = TrackEvent {
            name_iid: name,
            terminating_flow_ids: vec![flow],
            ..TrackEvent::default()
        };
        let kind = EventType::Instant;
        self.writer.event(from, span.end, kind, event)?;
        self.writer.end(from, span.end)
    }

    /// A slice for a way, with one for each part in it. Gives the flow that begins there.
    fn way(
        &mut self,
        track: u64,
        span: Span,
        name: Option<u64>,
        parts: Parts<'_>,
    ) -> io::Result<u64> {
        let flow = self.writer.flow();
        let event = TrackEvent {
            name_iid: name,
            flow_ids: vec![flow],
            debug_annotations: vec![self.picoseconds(span.duration())],
            ..TrackEvent::default()
        };
        self.writer.begin(track, span.begin, event)?;
        let mut time = span.begin;
        for (part, duration) in parts {
            let name = self.name(part);
            let event = TrackEvent {
                name_iid: self.writer.event_name(&name),
                debug_annotations: vec![self.picoseconds(duration)],
                ..TrackEvent::default()
            };
            self.writer.begin(track, time, event)?;
            time = time.saturating_add(duration);
            self.writer.end(track, time)?;
        }
        self.writer.end(track, span.end)?;
        Ok(flow)
    }

    fn instant(&mut self, track: u64, time: u64, name_iid: Option<u64>) -> io::Result<()> {
        let event = TrackEvent {
            name_iid,
            ..TrackEvent::default()
        };
        self.writer.event(track, time, EventType::Instant, event)
    }

    fn counter(&mut self, scope: Scope, id: u32, counters: &mut Counters) -> io::Result<u64> {
        let whose = (scope == Scope::Thread).then_some(self.thread.1);
        if let Some(&track) = counters.tracks.get(&(whose, id)) {
            return Ok(track);
        }
        let counter = self.name(id);
        let name = match scope {
            Scope::Thread => format!("{}: {counter}", self.thread.0),
            Scope::Process => counter,
        };
        let track = self.writer.counter_track(counters.parent, &name)?;
        counters.tracks.insert((whose, id), track);
        Ok(track)
    }

    fn track(&self, side: Side) -> u64 {
        match side {
            Side::Host => self.host,
            Side::Nxp => self.nxp,
        }
    }

    fn name(&self, id: u32) -> String {
        let known = self.process.name(id);
        known.map_or_else(|| "?".into(), |name| self.writer.function(name))
    }

    fn picoseconds(&mut self, time: u64) -> DebugAnnotation {
        self.writer.annotation("picoseconds", Value::Number(time))
    }

    fn caller(&mut self, site: &Name) -> DebugAnnotation {
        let caller = Value::Text(self.writer.function(site));
        self.writer.annotation("caller", caller)
    }
}
