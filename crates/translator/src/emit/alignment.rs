//! Where loops begin.
//!
//! A jump to the last bytes of a cache line fetches these alone. So the first block of an innermost
//! loop does not begin there: nops in front of it lead to the next line.
use super::block_order::Layout;
use crate::code::Code;

pub const LINE: usize = 64;
/// A loop that begins with fewer bytes left in its line begins in the next.
const LEAST: usize = 24;
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

/// The first blocks of loops that have no other loop in them.
pub fn heads(code: &Code, layout: &Layout) -> Vec<bool> {
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
    let mut heads = vec![false; count];
    let mut next = usize::MAX;
    for (place, end) in ends.into_iter().enumerate().rev() {
        let Some(end) = end else { continue };
        heads[layout.order[place]] = next > end;
        next = place;
    }
    heads
}

/// Bytes in front of each, from where they are without, in ascending order.
pub fn padding(offsets: &[usize]) -> Vec<usize> {
    let mut before = 0;
    let pad = |&offset: &usize| {
        let left = LINE - (offset + before) % LINE;
        let pad = if left < LEAST { left } else { 0 };
        before += pad;
        pad
    };
    offsets.iter().map(pad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_begin_where_there_is_room() {
        assert_eq!(padding(&[0, 40, 41, 64, 127]), [0, 0, 23, 0, 0]);
        assert_eq!(padding(&[63, 126, 200]), [1, 1, 0]);
        assert_eq!(padding(&[]), [0; 0]);
        assert_eq!((of_function(127), of_function(128)), (16, 64));
    }
}
