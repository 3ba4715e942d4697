//! The time of packets on the links of a machine file. A link has *channels*: one from each router to
//! each of its neighbours. The head of a packet goes from router to router, and takes the link's latency
//! for each channel. Its bytes follow at the link's width, so that the channel is busy for that long. A
//! packet that finds a channel busy waits in the router, whose buffers have no end.
//!
//! A step is made when the head of a packet comes to a router. So packets take channels in the order of
//! virtual time, and packets of one way stay in their order.
mod saved_network;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::machine::{Link, Topology};
use crate::memory_system::Time;

pub use saved_network::SavedNetwork;

const FS_PER_PS: f64 = 1000.0;
/// Channels of a router at most: to both sides in each dimension.
const DIRECTIONS: usize = 4;

/// The way of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    link: u32,
    /// The place on the link where the packet's head is.
    at: u32,
    to: u32,
    /// It has left its sender for a crossbar.
    is_inside: bool,
}

/// What a link has carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkCounts {
    /// Packets that have entered it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Picoseconds for which packets have waited for channels.
    pub wait: Time,
}

/// All links of a machine.
#[derive(Debug, Default)]
pub struct Network {
    links: Vec<Channels>,
}

#[derive(Debug)]
struct Channels {
    name: String,
    topology: Topology,
    /// By place.
    tiles: Vec<usize>,
    latency: Time,
    /// Bytes of a cycle; 0: no limit.
    width: u64,
    period: Time,
    /// By tile.
    places: Vec<Option<u32>>,
    /// When each channel is free again: by place and direction.
    free: Vec<Time>,
    /// When the latest packet came to each channel.
    latest: Vec<Time>,
    counts: LinkCounts,
}

impl Network {
    /// The links of a machine with so many tiles, which nothing has used yet.
    pub fn new(links: &[Link], tiles: usize) -> Self {
        let channels = |link: &Link| {
            let mut places = vec![None; tiles];
            for (place, &tile) in link.tiles.iter().enumerate() {
                places[tile] = Some(place as u32);
            }
            Channels {
                name: link.name.clone(),
                topology: link.topology,
                tiles: link.tiles.clone(),
                latency: (link.latency as f64 / FS_PER_PS).round() as Time,
                width: link.width,
                period: (link.period / FS_PER_PS).round().max(1.0) as Time,
                places,
                free: vec![0; link.tiles.len() * DIRECTIONS],
                latest: vec![0; link.tiles.len() * DIRECTIONS],
                counts: LinkCounts::default(),
            }
        };
        Self {
            links: links.iter().map(channels).collect(),
        }
    }

    /// The way from one tile to another: on the first link that connects them.
    pub fn way(&self, from: usize, to: usize) -> Option<Way> {
        let mut all = self.links.iter().enumerate();
        all.find_map(|(link, channels)| {
            let place = |tile: usize| channels.places.get(tile).copied().flatten();
            Some(Way {
                link: link as u32,
                at: place(from)?,
                to: place(to)?,
                is_inside: false,
            })
        })
    }

    /// The tile at whose router the head of a packet is.
    pub fn tile(&self, way: &Way) -> usize {
        self.links[way.link as usize].tiles[way.at as usize]
    }

    /// A packet of so many bytes enters a link.
    pub fn enter(&mut self, way: &Way, bytes: u64) {
        let counts = &mut self.links[way.link as usize].counts;
        counts.packets += 1;
        counts.bytes += bytes;
    }

    /// The head of a packet takes its next channel, at `now` or later. Returns the time at which the head
    /// is at the other end; at the end of the way it is the last byte.
    pub fn step(&mut self, way: &mut Way, bytes: u64, now: Time) -> Time {
        let link = &mut self.links[way.link as usize];
        let (channel, next, latency) = link.next(way);
        let duration = link.duration(bytes);
        let (free, latest) = (&mut link.free[channel], &mut link.latest[channel]);
        // Harts that are lent may be ahead of others, whose packets would wait for those of milliseconds later.
        let is_behind = now < *latest;
        let begin = if is_behind { now } else { now.max(*free) };
        if !is_behind {
            (*free, *latest) = (begin.saturating_add(duration), now);
        }
        link.counts.wait += begin - now;
        *way = next;
        let arrives = begin.saturating_add(latency);
        match way.is_over() {
            true => arrives.saturating_add(duration),
            false => arrives,
        }
    }

    /// Names and counts of all links.
    pub fn counts(&self) -> impl Iterator<Item = (&str, LinkCounts)> {
        self.links.iter().map(|link| (&*link.name, link.counts))
    }

    /// All about the links that decides what packets take, as a text.
    pub fn description(&self) -> String {
        let links = self.links.iter().map(|link| {
            let (latency, width, period) = (link.latency, link.width, link.period);
            let shape = link.topology;
            format!("{shape:?} {latency} {width} {period} {:?}", link.places)
        });
        links.collect::<Vec<_>>().join(",")
    }

    /// The machine starts again: all channels are free. What was counted stays.
    pub fn reset(&mut self) {
        for link in &mut self.links {
            link.free.fill(0);
            link.latest.fill(0);
        }
    }
}

impl Way {
    /// Is the packet where it goes to?
    pub fn is_over(&self) -> bool {
        self.at == self.to
    }
}

/// One step from a place towards another on a line or a circle of so many: to the left, or to the right
/// if both are as near.
fn towards(at: usize, to: usize, size: usize, is_circle: bool) -> (bool, usize) {
    let right = (to + size - at) % size;
    let goes_right = match is_circle {
        true => 2 * right <= size,
        false => to > at,
    };
    match goes_right {
        true => (true, (at + 1) % size),
        false => (false, (at + size - 1) % size),
    }
}

impl Channels {
    /// How long so many bytes keep a channel.
    fn duration(&self, bytes: u64) -> Time {
        match self.width {
            0 => 0,
            width => bytes.div_ceil(width) * self.period,
        }
    }

    /// The next channel of a way, where it leads, and its latency. The way is not over.
    fn next(&self, way: &Way) -> (usize, Way, Time) {
        let (at, to) = (way.at as usize, way.to as usize);
        let goes = |direction, next: usize| {
            let next = Way {
                at: next as u32,
                ..*way
            };
            (at * DIRECTIONS + direction, next, self.latency)
        };
        match self.topology {
            Topology::PointToPoint => goes(0, to),
            // The sender's port, and then that of the receiver.
            Topology::Crossbar if !way.is_inside => {
                let inside = Way {
                    is_inside: true,
                    ..*way
                };
                (at * DIRECTIONS, inside, 0)
            }
            Topology::Crossbar => {
                let (_, next, latency) = goes(0, to);
                (to * DIRECTIONS + 1, next, latency)
            }
            Topology::Ring => {
                let (is_right, next) = towards(at, to, self.tiles.len(), true);
                goes(usize::from(is_right), next)
            }
            // First along the row, and then along the column.
            Topology::Mesh(columns) | Topology::Torus(columns) => {
                let columns = columns.max(1) as usize;
                let is_circle = matches!(self.topology, Topology::Torus(_));
                let ((x, y), (to_x, to_y)) =
                    ((at % columns, at / columns), (to % columns, to / columns));
                if x != to_x {
                    let (is_right, x) = towards(x, to_x, columns, is_circle);
                    return goes(usize::from(is_right), y * columns + x);
                }
                let rows = self.tiles.len().div_ceil(columns);
                let (is_down, y) = towards(y, to_y, rows, is_circle);
                goes(2 + usize::from(is_down), y * columns + x)
            }
        }
    }
}
