//! What is written is decoded again, and is what Perfetto asks for: slices nest on each track, each
//! flow leads from one slice to another, names are interned before they are used.
use std::collections::{HashMap, HashSet};

use flick_events::trace::{Encoder, Trace};
use flick_names::Demangle;
use prost::Message;

use super::proto::{EventType, TracePacket};
use crate::sample_trace::{jumping, nested, trace};

#[derive(Clone, PartialEq, Message)]
struct Whole {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

/// A slice or an instant, as a viewer shows it.
#[derive(Clone, Debug, PartialEq)]
struct Slice {
    track: String,
    name: String,
    begin: u64,
    end: u64,
    level: usize,
    flows: Vec<u64>,
    terminating: Vec<u64>,
    source: Option<String>,
}

/// A trace as a viewer sees it.
#[derive(Default)]
struct Seen {
    tracks: Vec<(String, Option<String>)>,
    slices: Vec<Slice>,
    counters: Vec<(String, u64, i64)>,
}

impl Seen {
    fn find(&self, track: &str, name: &str) -> Vec<&Slice> {
        let here = |slice: &&Slice| slice.track == track && slice.name == name;
        self.slices.iter().filter(here).collect()
    }

    fn times(&self, track: &str, name: &str) -> Vec<(u64, u64, usize)> {
        let slices = self.find(track, name).into_iter();
        slices.map(|s| (s.begin, s.end, s.level)).collect()
    }
}

/// Decodes and checks.
fn see(threads: &[&dyn Fn(&mut Encoder<'_>) -> bool]) -> Seen {
    let file = trace(threads);
    let mut bytes = Vec::new();
    super::write(&Trace::read(&file).unwrap(), Demangle::Yes, &mut bytes).unwrap();
    let packets = Whole::decode(&*bytes).unwrap().packet;
    let mut viewer = Viewer::default();
    for (index, packet) in packets.iter().enumerate() {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        assert_eq!(packet.sequence_flags, Some(if index == 0 { 1 } else { 2 }));
        viewer.packet(packet);
    }
    assert!(viewer.open.values().all(Vec::is_empty), "a slice is open");
    let all = |of: fn(&Slice) -> &Vec<u64>| -> HashSet<u64> {
        viewer.seen.slices.iter().flat_map(of).copied().collect()
    };
    assert!(all(|s| &s.terminating).is_subset(&all(|s| &s.flows)));
    viewer.seen
}

#[derive(Default)]
struct Viewer {
    names: HashMap<u64, String>,
    annotations: HashSet<u64>,
    sources: HashMap<u64, String>,
    tracks: HashMap<u64, String>,
    open: HashMap<u64, Vec<Slice>>,
    last: HashMap<u64, u64>,
    seen: Seen,
}

impl Viewer {
    fn packet(&mut self, packet: &TracePacket) {
        if let Some(interned) = &packet.interned_data {
            for name in &interned.event_names {
                let new = self
                    .names
                    .insert(name.iid.unwrap(), name.name.clone().unwrap());
                assert_eq!(new, None);
            }
            for name in &interned.debug_annotation_names {
                assert!(self.annotations.insert(name.iid.unwrap()));
            }
            for s in &interned.source_locations {
                let text = format!(
                    "{}:{}",
                    s.file_name.as_ref().unwrap(),
                    s.line_number.unwrap()
                );
                assert_eq!(self.sources.insert(s.iid.unwrap(), text), None);
            }
        }
        if let Some(track) = &packet.track_descriptor {
            let process = track.process.as_ref();
            let name = track
                .name
                .clone()
                .or_else(|| process?.process_name.clone())
                .unwrap();
            let parent = track.parent_uuid.map(|parent| self.tracks[&parent].clone());
            assert_eq!(self.tracks.insert(track.uuid.unwrap(), name.clone()), None);
            self.seen.tracks.push((name, parent));
        }
        let Some(event) = &packet.track_event else {
            return;
        };
        let (time, uuid) = (packet.timestamp.unwrap(), event.track_uuid.unwrap());
        let last = self.last.entry(uuid).or_default();
        assert!(*last <= time, "time goes back on a track");
        *last = time;
        let track = self.tracks[&uuid].clone();
        for annotation in &event.debug_annotations {
            assert!(self.annotations.contains(&annotation.name_iid.unwrap()));
        }
        let open = self.open.entry(uuid).or_default();
        let slice = || Slice {
            track: track.clone(),
            name: self.names[&event.name_iid.unwrap()].clone(),
            begin: time,
            end: time,
            level: open.len(),
            flows: event.flow_ids.clone(),
            terminating: event.terminating_flow_ids.clone(),
            source: event
                .source_location_iid
                .map(|iid| self.sources[&iid].clone()),
        };
        match EventType::try_from(event.r#type.unwrap()).unwrap() {
            EventType::SliceBegin => open.push(slice()),
            EventType::SliceEnd => {
                let mut slice = open.pop().expect("a slice ends that has begun");
                slice.end = time;
                self.seen.slices.push(slice);
            }
            EventType::Instant => self.seen.slices.push(slice()),
            EventType::Counter => {
                let value = event.counter_value.unwrap();
                self.seen.counters.push((track, time, value));
            }
            EventType::Unspecified => panic!("an event without a type"),
        }
    }
}

#[test]
fn nested_crossings() {
    let seen = see(&[&nested]);
    let process = Some("bfs on near <&> far".to_owned());
    assert_eq!(
        seen.tracks,
        [
            ("bfs on near <&> far".into(), None),
            ("main: host".into(), process.clone()),
            ("main: NxP".into(), process.clone()),
            ("NxP heap".into(), process.clone()),
            ("main: NxP instructions".into(), process),
        ]
    );
    // Nanoseconds. On the host: the whole call, visit in it, the second call in that.
    assert_eq!(
        seen.times("main: host", "walk (on the NxP)"),
        [(40_000, 66_000, 2), (10_000, 96_000, 0)]
    );
    assert_eq!(seen.times("main: host", "visit"), [(36_000, 70_000, 1)]);
    // On the NxP: the second walk in visit in the first walk.
    assert_eq!(
        seen.times("main: NxP", "walk"),
        [(48_000, 60_000, 2), (18_000, 90_000, 0)]
    );
    assert_eq!(
        seen.times("main: NxP", "visit (on the host)"),
        [(30_000, 76_000, 1)]
    );
    assert_eq!(
        seen.times("main: NxP", "waits for an NxP core"),
        [(18_000, 20_000, 1)]
    );
    // The way there in its parts.
    let level = 2;
    for (name, begin, end) in [
        ("fault", 10_000, 12_000),
        ("link", 12_000, 17_000),
        ("switch", 17_000, 18_000),
    ] {
        assert!(
            seen.times("main: host", name)
                .contains(&(begin, end, level)),
            "{name}"
        );
    }
    let way = &seen.find("main: host", "to the NxP")[0];
    assert_eq!((way.begin, way.end, way.level), (10_000, 18_000, 1));
    // The arrow from it leads to the function.
    let walk = seen.find("main: NxP", "walk")[1];
    assert_eq!(walk.terminating, way.flows);
    assert_eq!(walk.source.as_deref(), Some("bfs.c:12"));
    // The arrow back begins after the function and leads to an instant.
    let back = seen.find("main: NxP", "back");
    let arrival = seen.find("main: host", "back");
    let last = arrival.iter().find(|slice| slice.begin == 96_000).unwrap();
    assert!(
        back.iter()
            .any(|slice| slice.flows == last.terminating && slice.begin == 90_000)
    );
    let call = seen.find("main: host", "walk (on the NxP)")[1];
    assert_eq!(call.source.as_deref(), Some("bfs.c:44"));
    assert_eq!(
        seen.counters,
        [
            ("NxP heap".into(), 0, 4096),
            ("main: NxP instructions".into(), 50_000, 1234),
            ("main: NxP instructions".into(), 80_000, 4321),
        ]
    );
}

#[test]
fn jumps_and_lost_ends() {
    let seen = see(&[&nested, &jumping]);
    let host = "jumper (2): host";
    // visit was left by the jump, at 50; the way back takes a microsecond.
    assert_eq!(
        seen.times(host, "visit"),
        [(46_000, 50_000, 1), (76_000, 80_000, 1)]
    );
    assert_eq!(
        seen.times(host, "walk (on the NxP)"),
        [
            (30_000, 51_000, 0),
            (60_000, 80_000, 0),
            (80_000, 95_000, 0)
        ]
    );
    assert_eq!(seen.times(host, "back by a jump"), [(51_000, 51_000, 1)]);
}

#[test]
fn wake_ups() {
    let wakes = |e: &mut Encoder<'_>| {
        e.thread_start(0, b"main")
            && e.state(1_000, 13)
            && e.state(4_000, 12)
            && e.state(9_000, 13)
            && e.thread_end(20_000)
    };
    let woken = |e: &mut Encoder<'_>| {
        e.thread_start(0, b"other") && e.state(0, 13) && e.state(5_000, 14) && e.thread_end(9_000)
    };
    let seen = see(&[&wakes, &woken]);
    let (call, ready) = (
        seen.find("main", "calls")[0],
        seen.find("other (2)", "ready, woken by thread 0x30000")[0],
    );
    assert_eq!(call.flows.len(), 1);
    assert_eq!(call.flows, ready.terminating);
    let all = seen.slices.iter().flat_map(|slice| &slice.flows);
    assert_eq!(all.count(), 1);
}

#[test]
fn messages_are_arrows() {
    let root = |e: &mut Encoder<'_>| {
        e.thread_start(0, b"main")
            && e.state(0, 13)
            && e.message(9_000_000, 2, 2_000_000, 12)
            // Nobody knows the sender of this one.
            && e.message(9_500_000, 77, 1, 12)
            && e.thread_end(20_000_000)
    };
    let tile =
        |e: &mut Encoder<'_>| e.thread_start(0, b"fft") && e.message(8_000_000, 1, 5_000_000, 12);
    let seen = see(&[&root, &tile]);
    let tile = "fft (2): messages";
    let (asks, asked) = (
        seen.find(tile, "calls to main")[0],
        seen.find("main: messages", "calls of fft (2)")[0],
    );
    assert_eq!((asks.begin, asked.begin), (7_000, 9_000));
    assert_eq!(asks.flows, asked.terminating);
    assert_eq!(seen.times(tile, "calls of main"), [(8_000, 8_000, 0)]);
    let all = seen.slices.iter().flat_map(|slice| &slice.flows);
    assert_eq!(all.count(), 2);
}

#[test]
fn nothing() {
    assert_eq!(see(&[]).tracks.len(), 1);
    let seen = see(&[&|_| true, &|e| e.thread_start(0, b"")]);
    assert_eq!(seen.slices.len(), 1);
    let mut bytes = Vec::new();
    super::write(&Trace::read(&[]).unwrap(), Demangle::Yes, &mut bytes).unwrap();
    assert!(bytes.is_empty());
}
