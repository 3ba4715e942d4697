//! The trace of a machine: which state each hart is in, in the project's format (`docs/records.md`,
//! "Trace"). A machine is a process, and a hart a thread whose number is the hart's and one more. The
//! threads that the card's kernel runs on a tile are a process of their own: one for each place of its
//! table. A tile with an accelerator is a thread behind the harts, and so is each tile that sends messages to one or
//! gets some.
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use flick_device::Time;
use flick_events::trace::{Encoder, MIN_BUFFER, process_block};
use flick_hart::{Change, HartEvent, Privilege};

use crate::board::{TileChange, TileEvent};

/// States of a hart that are kept before they are written.
const KEPT: usize = 4096;
const MACHINE: u32 = 1;

/// Writes a trace.
pub struct Tracer {
    file: Box<dyn Write>,
    /// The program and the machine.
    run: [String; 2],
    /// Those of harts, and then those of the kernel's threads.
    tracks: Vec<Track>,
    /// Where the tracks of a tile's threads are, by their places.
    threads: BTreeMap<usize, HashMap<u64, usize>>,
    /// How many harts there are, and the names of tiles.
    harts: usize,
    tile_names: Vec<String>,
    /// Where the tracks of tiles are.
    tiles: BTreeMap<usize, usize>,
    /// By process.
    names: HashMap<u32, HashMap<String, u32>>,
    buffer: Vec<u8>,
    /// The first failure of the file.
    failed: Option<io::Error>,
}

#[derive(Default)]
struct Track {
    /// Of the process, and of the thread in it.
    numbers: (u32, u32),
    name: String,
    privilege: Option<Privilege>,
    is_waiting: bool,
    is_begun: bool,
    events: Vec<(Time, Told)>,
    /// The time of the last one that is written.
    written: Time,
}

/// An event of a track, with the number of its name.
#[derive(Clone, Copy)]
enum Told {
    State(u32),
    /// From the thread of this number, and how long it was under way.
    Message(u32, Time, u32),
}

fn letter(privilege: Privilege) -> char {
    match privilege {
        Privilege::User => 'U',
        Privilege::Supervisor => 'S',
        Privilege::Machine => 'M',
    }
}

/// Names of exceptions (privileged manual, table "Machine cause register values after trap").
pub(crate) fn exception(code: u64) -> &'static str {
    match code {
        0 => "misaligned fetch",
        1 => "fetch access fault",
        2 => "illegal instruction",
        3 => "breakpoint",
        4 => "misaligned load",
        5 => "load access fault",
        6 => "misaligned store",
        7 => "store access fault",
        8 => "ecall from U",
        9 => "ecall from S",
        11 => "ecall from M",
        12 => "fetch page fault",
        13 => "load page fault",
        15 => "store page fault",
        _ => "exception",
    }
}

fn interrupt(number: u32) -> &'static str {
    match number {
        1 | 3 => "software interrupt",
        5 | 7 => "timer interrupt",
        9 | 11 => "external interrupt",
        _ => "interrupt",
    }
}

impl Tracer {
    /// A trace of the harts with these names. `program` and `machine` name the run.
    pub fn new(file: Box<dyn Write>, program: &str, machine: &str, harts: Vec<String>) -> Self {
        let track = |(hart, name)| Track {
            numbers: (MACHINE, hart as u32 + 1),
            name,
            ..Track::default()
        };
        let mut tracer = Self {
            file,
            run: [program.into(), machine.into()],
            harts: harts.len(),
            tracks: harts.into_iter().enumerate().map(track).collect(),
            threads: BTreeMap::new(),
            tile_names: vec![],
            tiles: BTreeMap::new(),
            names: HashMap::new(),
            buffer: vec![0; 16 * MIN_BUFFER],
            failed: None,
        };
        let block = process_block(MACHINE, program.as_bytes(), machine.as_bytes());
        tracer.write(&block);
        tracer
    }

    /// Tiles have these names.
    pub fn with_tiles(self, tile_names: Vec<String>) -> Self {
        Self { tile_names, ..self }
    }

    fn write(&mut self, block: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(block).err();
        }
    }

    /// From a time on a track is in the state of this name: that of a hart, by its number, or another.
    pub(crate) fn state(&mut self, track: usize, time: Time, name: String) {
        let id = self.name(track, name);
        self.add(track, time, Told::State(id));
    }

    /// The number of a name in the process of a track.
    fn name(&mut self, track: usize, name: String) -> u32 {
        let names = self.names.entry(self.tracks[track].numbers.0).or_default();
        let next = names.len() as u32 + 1;
        match names.get(&name) {
            Some(&id) => id,
            None => {
                names.insert(name.clone(), next);
                self.encode(track, |encoder| encoder.name(next, name.as_bytes(), b"", 0));
                next
            }
        }
    }

    fn add(&mut self, track: usize, time: Time, told: Told) {
        let of = &mut self.tracks[track];
        of.events.push((time, told));
        if of.events.len() == KEPT {
            self.flush(track);
        }
    }

    /// The track of a tile.
    fn tile(&mut self, tile: usize) -> usize {
        let next = self.tracks.len();
        let track = *self.tiles.entry(tile).or_insert(next);
        if track == next {
            let name = self.tile_names.get(tile).cloned();
            self.tracks.push(Track {
                numbers: (MACHINE, (self.harts + tile) as u32 + 1),
                name: name.unwrap_or_else(|| format!("tile {tile}")),
                ..Track::default()
            });
        }
        track
    }

    /// From a time on an accelerator is in the state of this name.
    pub(crate) fn tile_state(&mut self, tile: usize, time: Time, name: &str) {
        let track = self.tile(tile);
        self.state(track, time, name.into());
    }

    /// Something has happened to a tile.
    pub(crate) fn tile_event(&mut self, event: TileEvent) {
        let TileEvent { tile, time, what } = event;
        match what {
            TileChange::State(name) => self.tile_state(tile, time, name),
            TileChange::Message(name, from, sent) => {
                let (from, track) = (self.tile(from), self.tile(tile));
                let from = self.tracks[from].numbers.1;
                let name = self.name(track, name);
                let under_way = time.saturating_sub(sent);
                self.add(track, time, Told::Message(from, under_way, name));
            }
        }
    }

    /// What tiles have done before is another run's.
    pub(crate) fn forget_tiles(&mut self) {
        for &track in self.tiles.values() {
            self.tracks[track].events.clear();
        }
    }

    /// From a time on the kernel's thread at a place is in the state of this name.
    pub(crate) fn thread(&mut self, tile: usize, place: u64, time: Time, name: String) {
        let process = MACHINE + 1 + tile as u32;
        if let Entry::Vacant(of_tile) = self.threads.entry(tile) {
            of_tile.insert(HashMap::new());
            let [program, machine] = &self.run;
            let program = format!("{program}: threads of tile {tile}");
            let block = process_block(process, program.as_bytes(), machine.as_bytes());
            self.write(&block);
        }
        let next = self.tracks.len();
        let of_tile = self.threads.entry(tile).or_default();
        let track = *of_tile.entry(place).or_insert(next);
        if track == next {
            self.tracks.push(Track {
                numbers: (process, place as u32 + 1),
                name: format!("thread place {place}"),
                ..Track::default()
            });
        }
        self.state(track, time, name);
    }

    fn encode(&mut self, track: usize, event: impl Fn(&mut Encoder) -> bool) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let Track {
            numbers: (process, thread),
            written,
            ..
        } = self.tracks[track];
        let mut encoder = Encoder::new(&mut buffer, process, thread).since(written);
        event(&mut encoder);
        encoder.flush(|block| self.write(block));
        self.buffer = buffer;
    }

    fn flush(&mut self, track: usize) {
        let of = &mut self.tracks[track];
        let events = std::mem::take(&mut of.events);
        let begins = !std::mem::replace(&mut of.is_begun, true);
        let name = of.name.clone();
        self.encode(track, |encoder| {
            (!begins || encoder.thread_start(0, name.as_bytes()))
                && events.iter().all(|&(time, told)| match told {
                    Told::State(id) => encoder.state(time, id),
                    Told::Message(from, under_way, id) => {
                        encoder.message(time, from, under_way, id)
                    }
                })
        });
        if let Some(&(time, _)) = events.last() {
            self.tracks[track].written = time;
        }
    }

    /// A hart has this privilege at `time`, to which no trap has led.
    pub(crate) fn runs(&mut self, hart: usize, time: Time, privilege: Privilege) {
        self.tracks[hart].privilege = Some(privilege);
        self.state(hart, time, letter(privilege).into());
    }

    /// The trace begins here, at a snapshot: the hart has this privilege, or waits. What was before is
    /// another run's.
    pub(crate) fn goes_on(&mut self, hart: usize, time: Time, privilege: Privilege, waits: bool) {
        let track = &mut self.tracks[hart];
        track.events.clear();
        track.is_waiting = false;
        self.runs(hart, time, privilege);
        if waits {
            self.tracks[hart].events.clear();
            self.waits(hart, time);
        }
    }

    /// A hart waits for an interrupt.
    pub(crate) fn waits(&mut self, hart: usize, time: Time) {
        self.tracks[hart].is_waiting = true;
        self.state(hart, time, "waits".into());
    }

    /// A hart goes on at `time`, if it has waited.
    pub(crate) fn waits_no_more(&mut self, hart: usize, time: Time) {
        let track = &mut self.tracks[hart];
        if let (true, Some(privilege)) = (std::mem::take(&mut track.is_waiting), track.privilege) {
            self.runs(hart, time, privilege);
        }
    }

    /// A hart has this privilege, and its state has a name of its own.
    pub(crate) fn has_privilege(&mut self, hart: usize, privilege: Privilege) {
        self.tracks[hart].privilege = Some(privilege);
    }

    /// A hart takes a trap or returns from one, at `time`.
    pub(crate) fn event(&mut self, hart: usize, time: Time, event: &HartEvent) {
        let to = letter(event.privilege);
        let name = match event.change {
            Change::Exception(code) => format!("{to}: {}", exception(code)),
            Change::Interrupt(number) => format!("{to}: {}", interrupt(number)),
            Change::Return => to.into(),
        };
        self.has_privilege(hart, event.privilege);
        self.state(hart, time, name);
    }

    /// Traps and returns of a slice that began at `start`, and whose unit is `tick`.
    pub(crate) fn slice(&mut self, hart: usize, start: Time, tick: Time, events: Vec<HartEvent>) {
        self.waits_no_more(hart, start);
        for event in events {
            self.event(hart, start + event.executed * tick, &event);
        }
    }

    /// Writes what is left, when the harts have these times. The first failure of the file, if there was
    /// one.
    pub fn end(mut self, times: &[Time]) -> io::Result<()> {
        let last = times.iter().max().copied().unwrap_or(0);
        for track in 0..self.tracks.len() {
            self.flush(track);
            let time = times.get(track).copied().unwrap_or(last);
            self.encode(track, |encoder| encoder.thread_end(time));
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flick_events::trace::{Trace, What};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Clone, Default)]
    struct Shared(Rc<RefCell<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn harts_have_states() {
        let file = Shared::default();
        let names = vec!["hart 0".to_owned(), "hart 1".to_owned()];
        let mut tracer = Tracer::new(Box::new(file.clone()), "a.elf", "virt", names);
        tracer.runs(0, 0, Privilege::Machine);
        tracer.runs(1, 0, Privilege::Machine);
        let event = |executed, privilege, change| HartEvent {
            executed,
            begun: executed,
            privilege,
            change,
        };
        // More than are kept at once.
        for turn in 0..KEPT as u64 {
            let events = vec![
                event(3, Privilege::User, Change::Return),
                event(5, Privilege::Supervisor, Change::Exception(8)),
                event(7, Privilege::Machine, Change::Interrupt(7)),
            ];
            tracer.slice(1, 100 * turn, 10, events);
        }
        tracer.waits(0, 50);
        tracer.slice(0, 55, 1, vec![]);
        tracer.end(&[60, 500_000]).unwrap();
        let bytes = file.0.borrow();
        let trace = Trace::read(&bytes).unwrap();
        let process = &trace.processes[0];
        assert_eq!((&*process.program, &*process.platform), ("a.elf", "virt"));
        let states = |hart: usize| {
            let states = process.threads[hart].map(|event| match event.what {
                What::State { id, .. } => Some((event.time, process.name(id)?.text.clone())),
                _ => None,
            });
            states.into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(
            states(0),
            [(0, "M".into()), (50, "waits".into()), (55, "M".into())]
        );
        let all = states(1);
        assert_eq!(all.len(), 1 + 3 * KEPT);
        let expected = ["U", "S: ecall from U", "M: timer interrupt"];
        for (n, (time, name)) in all[1..].iter().enumerate() {
            assert_eq!(*name, expected[n % 3]);
            assert_eq!(*time, n as u64 / 3 * 100 + [30, 50, 70][n % 3]);
        }
    }
}
