//! Where loops begin.
//!
//! A jump to the last bytes of a cache line fetches these alone. So the first block of an innermost
//! loop does not begin there: nops in front of it lead to the next line.
//!
//! Processors predict worse where two branches of a loop end in the same 32 bytes. A search through
//! a graph took 1.2 times the time then, in our code and in clang's. So up to two further nops move a
//! small loop to where fewer of its branches do. More nops cost loops of few rounds more than this
//! gains.
use super::block_order::Layout;
use crate::code::Code;

pub const LINE: usize = 64;
/// A loop that begins with fewer bytes left in its line begins in the next.
const LEAST: usize = 24;
/// The part of a line in which processors tell branches apart badly.
const WINDOW: usize = 32;
/// A loop with more bytes may have its branches anywhere.
const LARGEST: usize = 128;
/// A loop is moved by fewer bytes to part its branches.
const FARTHEST: usize = 16;
/// A translation of so many bytes begins at a line.
const LARGE: usize = 128;
/// Where others begin.
const SMALL_ALIGNMENT: usize = 16;

/// The places at which a translation with so many bytes of code may begin are multiples of this.
pub fn of_function(code_end: usize) -> usize {
    if code_end >= LARGE {
        LINE
    } else {
        SMALL_ALIGNMENT
    }
}

/// An innermost loop in the code without padding.
#[derive(Debug)]
pub struct Loop {
    pub begin: usize,
    pub end: usize,
    /// The last byte of each conditional branch in it, in ascending order.
    pub branches: Vec<usize>,
}

impl Loop {
    /// Pairs of neighbouring branches that end in one window if the loop is moved so far.
    fn crowded(&self, by: usize) -> usize {
        if self.end - self.begin > LARGEST {
            return 0;
        }
        let windows = self.branches.windows(2);
        windows
            .filter(|pair| (pair[0] + by) / WINDOW == (pair[1] + by) / WINDOW)
            .count()
    }

    fn padding(&self, before: usize) -> usize {
        let has_room = |pad: &usize| LINE - (self.begin + before + pad) % LINE >= LEAST;
        let first = (0..LINE).find(has_room).unwrap_or(0);
        let pads = (first..first + FARTHEST).filter(has_room);
        pads.min_by_key(|pad| self.crowded(before + pad))
            .unwrap_or(0)
    }
}

/// For the first blocks of loops that have no other loop in them, the loop's last block.
pub fn heads(code: &Code, layout: &Layout) -> Vec<Option<usize>> {
    let count = code.ranges.len();
    let mut places = vec![usize::MAX; count];
    for (place, &block) in layout.order.iter().enumerate() {
        places[block] = place;
    }
    let mut ends = vec![None; layout.order.len()];
    for (place, &block) in layout.order.iter().enumerate() {
        for to in &code.succs[block] {
            let head = places[layout.leads_to(to.index())];
            if head <= place {
                ends[head] = Some(place);
            }
        }
    }
    let mut heads = vec![None; count];
    let mut next = usize::MAX;
    for (place, end) in ends.into_iter().enumerate().rev() {
        let Some(end) = end else { continue };
        if next > end {
            heads[layout.order[place]] = Some(layout.order[end]);
        }
        next = place;
    }
    heads
}

/// Bytes in front of each loop, which are in ascending order.
pub fn padding(loops: &[Loop]) -> Vec<usize> {
    let mut before = 0;
    let pad = |inner: &Loop| {
        let pad = inner.padding(before);
        before += pad;
        pad
    };
    loops.iter().map(pad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(begin: usize, branches: &[usize]) -> Loop {
        Loop {
            begin,
            end: begin + 60,
            branches: branches.to_vec(),
        }
    }

    #[test]
    fn heads_begin_where_there_is_room() {
        let padding = |offsets: &[usize]| {
            let loops: Vec<Loop> = offsets.iter().map(|&at| inner(at, &[])).collect();
            padding(&loops)
        };
        assert_eq!(padding(&[0, 40, 41, 64, 127]), [0, 0, 23, 0, 0]);
        assert_eq!(padding(&[63, 126, 200]), [1, 1, 0]);
        assert_eq!(padding(&[]), [0; 0]);
        assert_eq!((of_function(127), of_function(128)), (16, 64));
    }

    #[test]
    fn branches_of_small_loops_end_in_different_windows() {
        assert_eq!(padding(&[inner(0, &[8, 29])]), [3]);
        // What was put in front of others counts, and a loop still begins where there is room.
        let loops = [inner(0, &[8, 29]), inner(64, &[91, 92]), inner(127, &[])];
        assert_eq!(padding(&loops), [3, 1, 0]);
        assert_eq!(padding(&[inner(41, &[45, 60])]), [23 + 13]);
        // Not all of them can, or it is too far.
        assert_eq!(padding(&[inner(0, &[8, 20, 29])]), [3]);
        assert_eq!(padding(&[inner(0, &[8, 10])]), [0]);
        let large = Loop {
            end: 200,
            ..inner(0, &[8, 29])
        };
        assert_eq!(padding(&[large]), [0]);
    }
}
