//! The guest instruction for which each piece of code was made. The emitter records these pieces on
//! request. The code is the same without them.

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The function's blocks.
    Body,
    /// Behind the body: what is rare.
    Cold,
    /// Behind all code: constants.
    Constants,
    /// The same: distances of a jump table's targets from the table.
    Table,
}

/// A piece of a translation, up to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// From the start of the translation.
    pub offset: usize,
    /// The guest's instruction; of data the function's entry.
    pub guest: u64,
    /// The guest's instruction that finds the guest's frame as this code does. It is another one where
    /// a frame is made later than in the guest's code.
    pub frame: u64,
    /// The part of the translation that the piece is in.
    pub part: Part,
}

#[derive(Default)]
pub struct Trace {
    /// Numbers of machine instructions in the place of offsets.
    spans: Vec<Span>,
    guest: u64,
    frame: u64,
    /// Guest addresses of what is put off to the end, and those for the frame.
    colds: Vec<(u64, u64)>,
}

impl Trace {
    /// From the machine instruction with this number on the code is `guest`'s.
    pub fn begin(&mut self, instruction: usize, guest: u64, frame: u64, part: Part) {
        (self.guest, self.frame) = (guest, frame);
        let same = |last: &Span| {
            (last.guest, last.frame, last.part) == (guest, frame, part) && part != Part::Table
        };
        if !self.spans.last().is_some_and(same) {
            self.spans.push(Span {
                offset: instruction,
                guest,
                frame,
                part,
            });
        }
    }

    /// Some code of the present guest instruction is put off.
    pub fn put_off(&mut self) {
        self.colds.push((self.guest, self.frame));
    }

    /// From here on follows what was put off as the `n`th.
    pub fn begin_cold(&mut self, instruction: usize, n: usize) {
        let (guest, frame) = self.colds[n];
        self.begin(instruction, guest, frame, Part::Cold);
    }

    /// `offsets`: where each machine instruction is, `u32::MAX` where it became several others.
    pub fn finish(self, offsets: &[u32], end: usize) -> Vec<Span> {
        let place = |n: usize| {
            let known = offsets.iter().skip(n).find(|&&offset| offset != u32::MAX);
            known.map_or(end, |&offset| offset as usize)
        };
        let placed = |span: Span| Span {
            offset: place(span.offset),
            ..span
        };
        self.spans.into_iter().map(placed).collect()
    }
}
