//! Streams of lines that a host fetches ahead: of a load that has missed twice at the same distance, and of all
//! accesses that have missed two neighbours in a page. A stream goes on, up or down, and at the end of a page into the
//! next one.
use super::window::SLOTS;

/// log2 of the bytes of a page.
const PAGE: u32 = 12;

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// The page + 1; 0: none.
    page: u64,
    line: u64,
    /// Whether the last step was to a neighbour.
    up: bool,
    down: bool,
    used: u64,
}

/// The farthest step of a load's stream, in lines.
const FARTHEST: u64 = 32;

/// What a load has missed last.
#[derive(Clone, Copy, Debug, Default)]
struct OfLoad {
    line: u64,
    step: i64,
}

/// A table of streams by page. The one that was used the longest ago goes.
#[derive(Clone, Debug)]
pub struct Streams {
    all: Box<[Stream]>,
    clock: u64,
    /// By the place of the load.
    loads: [OfLoad; SLOTS],
}

impl Streams {
    pub fn new(streams: usize) -> Self {
        Self {
            all: vec![Stream::default(); streams].into_boxed_slice(),
            clock: 0,
            loads: [OfLoad::default(); SLOTS],
        }
    }

    /// Copies the state of `other`, which has the same size.
    pub fn copy(&mut self, other: &Streams) {
        self.all.copy_from_slice(&other.all);
        (self.clock, self.loads) = (other.clock, other.loads);
    }

    /// The nearest cache has missed a line: whether it was fetched ahead. `own` is the place of the load; 0: it
    /// has none.
    #[inline]
    pub fn misses(&mut self, place: u64, shift: u32, own: u8) -> bool {
        if self.all.is_empty() {
            return false;
        }
        if own != 0 {
            let load = &mut self.loads[usize::from(own) % SLOTS];
            let line = place >> shift;
            let step = line.wrapping_sub(load.line) as i64;
            let same_page = (line ^ load.line) >> (PAGE - shift.min(PAGE)) == 0;
            let known = step == load.step && (1..=FARTHEST).contains(&step.unsigned_abs());
            *load = OfLoad { line, step };
            if known && same_page {
                return true;
            }
        }
        self.clock += 1;
        let (page, line) = ((place >> PAGE) + 1, place >> shift);
        let mut oldest = 0;
        let mut age = u64::MAX;
        let mut known_before = (false, false);
        for (number, stream) in self.all.iter_mut().enumerate() {
            if stream.page == page {
                // A step over a line is one of the same stream: another access may have had it.
                let step = line.wrapping_sub(stream.line) as i64;
                let (up, down) = ((1..=2).contains(&step), (-2..=-1).contains(&step));
                let known = up && stream.up || down && stream.down;
                *stream = Stream {
                    page,
                    line,
                    up,
                    down,
                    used: self.clock,
                };
                return known;
            }
            // A stream has come to the end of its page, or to the beginning.
            let step = line.wrapping_sub(stream.line) as i64;
            if stream.page != 0 && stream.page.abs_diff(page) == 1 && (-2..=2).contains(&step) {
                let (up, down) = (step > 0 && stream.up, step < 0 && stream.down);
                known_before = (known_before.0 | up, known_before.1 | down);
            }
            if stream.used < age {
                (oldest, age) = (number, stream.used);
            }
        }
        if let Some(stream) = self.all.get_mut(oldest) {
            *stream = Stream {
                page,
                line,
                up: known_before.0,
                down: known_before.1,
                used: self.clock,
            };
        }
        known_before.0 || known_before.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_neighbours_make_a_stream() {
        let mut streams = Streams::new(2);
        let mut lines = |lines: &[u64]| -> Vec<bool> {
            let each = lines.iter().map(|line| streams.misses(line << 6, 6, 0));
            each.collect()
        };
        assert_eq!(lines(&[0, 1, 2, 3, 5]), [false, false, true, true, true]);
        // Down, in another page; and the first goes on.
        assert_eq!(lines(&[127, 126, 125, 6]), [false, false, true, true]);
        // Another page begins anew, and takes the place of the oldest.
        assert_eq!(lines(&[256, 257, 258]), [false, false, true]);
        assert_eq!(lines(&[7, 124, 259]), [true, false, false]);
        assert_eq!(lines(&[20, 40, 60]), [false; 3]);
    }

    #[test]
    fn a_stream_goes_on_in_the_next_page() {
        let mut streams = Streams::new(4);
        let mut lines = |lines: &[u64]| -> Vec<bool> {
            let each = lines.iter().map(|line| streams.misses(line << 6, 6, 0));
            each.collect()
        };
        assert_eq!(
            lines(&[61, 62, 63, 64, 65]),
            [false, false, true, true, true]
        );
        // Down, and not where the direction is another one.
        assert_eq!(lines(&[258, 257, 256, 255]), [false, false, true, true]);
        assert_eq!(lines(&[256 + 1022, 256 + 1023]), [false, false]);
        assert_eq!(lines(&[256 + 1024 + 2]), [false]);
    }

    #[test]
    fn a_load_has_a_stream_of_its_own() {
        let mut streams = Streams::new(1);
        let mut ahead = Vec::new();
        for i in 0..6 {
            ahead.push(streams.misses((3 * i) << 6, 6, 1));
            // These take the table of pages.
            assert!(!streams.misses((1000 + i * 777) << 6, 6, 2));
        }
        assert_eq!(ahead, [false, false, true, true, true, true]);
    }

    #[test]
    fn without_streams_nothing_is_ahead() {
        let mut streams = Streams::new(0);
        assert!((0..64).all(|line| !streams.misses(line << 6, 6, 0)));
    }
}
