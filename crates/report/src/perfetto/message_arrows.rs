//! Messages between tiles of a machine: a track for each tile that sends or gets some, and arrows between them.
use std::collections::BTreeMap;
use std::io;

use flick_events::trace::{Process, What};

use super::proto::{EventType, TrackDescriptor, TrackEvent};
use super::writer::Writer;
use crate::timeline;

/// An end of an arrow.
struct End {
    time: u64,
    name: String,
    flow: u64,
    is_arrival: bool,
}

/// Writes the tracks of messages, below the track of the process.
pub fn write(process: &Process<'_>, parent: u64, writer: &mut Writer<'_>) -> io::Result<()> {
    let threads = process.threads.iter().enumerate();
    let places: BTreeMap<u32, usize> = threads.map(|(at, thread)| (thread.id, at)).collect();
    let mut ends: BTreeMap<usize, Vec<End>> = BTreeMap::new();
    for (to, thread) in process.threads.iter().enumerate() {
        thread.each(|event| {
            let What::Message {
                from,
                under_way,
                id,
            } = event.what
            else {
                return;
            };
            let Some(&from) = places.get(&from) else {
                return;
            };
            let flow = writer.flow();
            let name = process.name(id).map_or("?", |name| &name.text);
            let tile = |at: usize| timeline::name_of(&process.threads[at]);
            ends.entry(from).or_default().push(End {
                time: event.time.saturating_sub(under_way),
                name: format!("{name} to {}", tile(to)),
                flow,
                is_arrival: false,
            });
            ends.entry(to).or_default().push(End {
                time: event.time,
                name: format!("{name} of {}", tile(from)),
                flow,
                is_arrival: true,
            });
        });
    }
    for (at, mut ends) in ends {
        let tile = timeline::name_of(&process.threads[at]);
        let track = writer.track(TrackDescriptor {
            name: Some(format!("{tile}: messages")),
            parent_uuid: Some(parent),
            sibling_order_rank: i32::try_from(2 * at + 1).ok(),
            ..TrackDescriptor::default()
        })?;
        ends.sort_by_key(|end| end.time);
        for end in ends {
            let (begins, ends) = match end.is_arrival {
                true => (vec![], vec![end.flow]),
                false => (vec![end.flow], vec![]),
            };
            let event = TrackEvent {
                name_iid: writer.event_name(&end.name),
                flow_ids: begins,
                terminating_flow_ids: ends,
                ..TrackEvent::default()
            };
            writer.event(track, end.time, EventType::Instant, event)?;
        }
    }
    Ok(())
}
