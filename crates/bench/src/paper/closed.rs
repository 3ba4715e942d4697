//! What Figure 5 comes to where nothing but latencies counts: a list of `n` nodes takes the host
//! `n` host accesses, and with migration one crossing there and back and `n` accesses of the NxP.
use super::read::{Chase, Times};

/// In microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Form {
    /// A call to the NxP and back (Table III).
    pub crossing: f64,
    /// A node of the list.
    pub node: Times,
}

impl Form {
    /// From Table III's constant, and from how Figure 5a's times grow between the shortest and the
    /// longest list. `None` where there are not two lengths.
    pub fn of(crossing: f64, no_pause: &Chase) -> Option<Self> {
        let (first, last) = (no_pause.points.first()?, no_pause.last());
        let nodes = (last.nodes - first.nodes) as f64;
        (nodes > 0.0).then(|| Self {
            crossing,
            node: Times {
                migrating: (last.times.migrating - first.times.migrating) / nodes,
                staying: (last.times.staying - first.times.staying) / nodes,
            },
        })
    }

    /// A call for `nodes` nodes, and the pause after it.
    pub fn times(&self, nodes: u64, pause: f64) -> Times {
        let nodes = nodes as f64;
        Times {
            migrating: self.crossing + nodes * self.node.migrating + pause,
            staying: nodes * self.node.staying + pause,
        }
    }

    /// The largest share by which a measured speedup differs from the form's.
    pub fn deviation(&self, chase: &Chase) -> f64 {
        let points = chase.points.iter().map(|point| {
            let form = self.times(point.nodes, chase.pause).speedup();
            (point.times.speedup() / form - 1.0).abs()
        });
        points.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::sample_output;

    #[test]
    fn the_form_of_latencies_is_found_again() {
        let chase = |pause| Chase::parse(&sample_output::chase(18.3, pause)).unwrap();
        let form = Form::of(18.3, &chase(0.0)).unwrap();
        assert!((form.node.migrating - 0.297).abs() < 1e-6, "{form:?}");
        assert!((form.node.staying - 0.825).abs() < 1e-6, "{form:?}");
        assert!(form.deviation(&chase(0.0)) < 1e-5);
        assert!(form.deviation(&chase(100.0)) < 1e-5);
        let slower = Chase::parse(&sample_output::chase(25.0, 100.0)).unwrap();
        assert!(form.deviation(&slower) > 0.05);
    }
}
