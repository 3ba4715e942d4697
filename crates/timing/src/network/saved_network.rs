//! The state of links, for snapshots: when their channels are free, and what they have carried.
use serde::{Deserialize, Serialize};

use super::{LinkCounts, Network, Topology, Way};
use crate::memory_system::{END_OF_TIME, Time};

/// What a [`Network`] has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedNetwork {
    /// By link: when its channels are free, and its counts.
    links: Vec<(Vec<Time>, LinkCounts)>,
}

impl Network {
    /// The state.
    pub fn save(&self) -> SavedNetwork {
        let links = self.links.iter();
        SavedNetwork {
            links: links.map(|link| (link.free.clone(), link.counts)).collect(),
        }
    }

    /// Takes what [`save`](Self::save) of equal links gave. False: it is of others, or impossible.
    pub fn restore(&mut self, saved: &SavedNetwork) -> bool {
        let mut pairs = self.links.iter().zip(&saved.links);
        let fits = saved.links.len() == self.links.len()
            && pairs.all(|(link, (free, counts))| {
                let counts = [counts.packets, counts.bytes, counts.wait];
                free.len() == link.free.len()
                    && free.iter().all(|&time| time < END_OF_TIME)
                    && counts.iter().all(|&count| count < END_OF_TIME)
            });
        if fits {
            for (link, (free, counts)) in self.links.iter_mut().zip(&saved.links) {
                link.free.clone_from(free);
                link.latest.fill(0);
                link.counts = *counts;
            }
        }
        fits
    }

    /// Could a packet be on this way, which is not over?
    pub fn has(&self, way: &Way) -> bool {
        let link = self.links.get(way.link as usize);
        link.is_some_and(|link| {
            let is_place = |place: u32| (place as usize) < link.tiles.len();
            is_place(way.at)
                && is_place(way.to)
                && (!way.is_inside || link.topology == Topology::Crossbar)
        })
    }
}
