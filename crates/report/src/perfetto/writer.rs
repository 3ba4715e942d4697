//! Packets, with names that are written once.
use std::collections::HashMap;
use std::io::{self, Write};

use flick_events::trace::Name;
use flick_names::Demangle;
use prost::Message;

use super::proto::{
    CounterDescriptor, DebugAnnotation, EventType, InternedData, InternedName,
    SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE, SourceLocation, TracePacket,
    TrackDescriptor, TrackEvent,
};

/// All packets are of one sequence: one writer, one set of interned names.
const SEQUENCE: u32 = 1;
/// Field 1 of `Trace`, of length and bytes.
const PACKET: u8 = 1 << 3 | 2;

pub struct Writer<'o> {
    out: &'o mut dyn Write,
    demangle: Demangle,
    begun: bool,
    event_names: HashMap<String, u64>,
    annotation_names: HashMap<String, u64>,
    locations: HashMap<Name, u64>,
    /// Interned and not yet written.
    new: InternedData,
    last_track: u64,
    last_flow: u64,
    buffer: Vec<u8>,
}

/// An argument of a slice, as Perfetto shows it.
pub enum Value {
    Number(u64),
    Text(String),
}

impl<'o> Writer<'o> {
    pub fn new(out: &'o mut dyn Write, demangle: Demangle) -> Self {
        Self {
            out,
            demangle,
            begun: false,
            event_names: HashMap::new(),
            annotation_names: HashMap::new(),
            locations: HashMap::new(),
            new: InternedData::default(),
            last_track: 0,
            last_flow: 0,
            buffer: Vec::new(),
        }
    }

    /// A function's name as people read it.
    pub fn function(&self, name: &Name) -> String {
        self.demangle
            .apply(flick_names::plain(&name.text))
            .into_owned()
    }

    pub fn flow(&mut self) -> u64 {
        self.last_flow += 1;
        self.last_flow
    }

    /// Declares a track and gives its number.
    pub fn track(&mut self, mut descriptor: TrackDescriptor) -> io::Result<u64> {
        self.last_track += 1;
        descriptor.uuid = Some(self.last_track);
        self.packet(TracePacket {
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        })?;
        Ok(self.last_track)
    }

    /// Declares the track of a counter. What stands in brackets behind its name is its unit.
    pub fn counter_track(&mut self, parent: u64, name: &str) -> io::Result<u64> {
        let unit = name
            .strip_suffix(')')
            .and_then(|name| name.rsplit_once(" ("));
        self.track(TrackDescriptor {
            name: Some(unit.map_or(name, |(name, _)| name).into()),
            parent_uuid: Some(parent),
            counter: Some(CounterDescriptor {
                unit_name: unit.map(|(_, unit)| unit.into()),
            }),
            ..TrackDescriptor::default()
        })
    }

    pub fn event_name(&mut self, name: &str) -> Option<u64> {
        if let Some(&iid) = self.event_names.get(name) {
            return Some(iid);
        }
        let iid = self.event_names.len() as u64 + 1;
        self.event_names.insert(name.into(), iid);
        self.new.event_names.push(InternedName {
            iid: Some(iid),
            name: Some(name.into()),
        });
        Some(iid)
    }

    /// Where a call is; `None` if the source is unknown.
    pub fn location(&mut self, name: &Name) -> Option<u64> {
        if name.file.is_empty() {
            return None;
        }
        if let Some(&iid) = self.locations.get(name) {
            return Some(iid);
        }
        let iid = self.locations.len() as u64 + 1;
        self.new.source_locations.push(SourceLocation {
            iid: Some(iid),
            file_name: Some(name.file.clone()),
            function_name: Some(self.function(name)),
            line_number: Some(name.line),
        });
        self.locations.insert(name.clone(), iid);
        Some(iid)
    }

    pub fn annotation(&mut self, name: &str, value: Value) -> DebugAnnotation {
        let next = self.annotation_names.len() as u64 + 1;
        let iid = self.annotation_names.get(name).copied().unwrap_or_else(|| {
            self.annotation_names.insert(name.into(), next);
            self.new.debug_annotation_names.push(InternedName {
                iid: Some(next),
                name: Some(name.into()),
            });
            next
        });
        let mut annotation = DebugAnnotation {
            name_iid: Some(iid),
            ..DebugAnnotation::default()
        };
        match value {
            Value::Number(n) => annotation.uint_value = Some(n),
            Value::Text(text) => annotation.string_value = Some(text),
        }
        annotation
    }

    /// `time` is picoseconds.
    pub fn event(
        &mut self,
        track: u64,
        time: u64,
        kind: EventType,
        mut event: TrackEvent,
    ) -> io::Result<()> {
        event.track_uuid = Some(track);
        event.r#type = Some(kind as i32);
        self.packet(TracePacket {
            timestamp: Some(time / 1000),
            track_event: Some(event),
            ..TracePacket::default()
        })
    }

    /// A slice begins.
    pub fn begin(&mut self, track: u64, time: u64, event: TrackEvent) -> io::Result<()> {
        self.event(track, time, EventType::SliceBegin, event)
    }

    /// The innermost slice ends.
    pub fn end(&mut self, track: u64, time: u64) -> io::Result<()> {
        self.event(track, time, EventType::SliceEnd, TrackEvent::default())
    }

    fn packet(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        packet.sequence_flags = Some(if self.begun {
            SEQ_NEEDS_INCREMENTAL_STATE
        } else {
            SEQ_INCREMENTAL_STATE_CLEARED
        });
        self.begun = true;
        if self.new != InternedData::default() {
            packet.interned_data = Some(std::mem::take(&mut self.new));
        }
        self.buffer.clear();
        self.buffer.push(PACKET);
        packet
            .encode_length_delimited(&mut self.buffer)
            .map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }
}
