//! The functions that a thread is in, by what they record themselves: each call and return
//! comes with the function's stack pointer.

/// A function's activation. Numbers are the profile's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    function: u32,
    /// Stack pointer; all ones for NxP code, which has another stack.
    sp: usize,
    /// Crossings from the host that the thread is in.
    depth: usize,
}

#[derive(Debug, Default)]
pub struct Stack {
    frames: Vec<Frame>,
    /// Has just left by a tail call.
    left: Option<u32>,
}

/// What a function records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct What {
    /// It returns, rather than call.
    pub returns: bool,
    /// Its stack pointer moves while it runs (alloca).
    pub grows: bool,
    /// The call takes its frame's place.
    pub leaves: bool,
}

/// A call that has just become known: who has called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing new.
    Known,
    /// By that function, or by code outside.
    Called(Option<u32>),
    /// By a tail call of that function.
    Followed(u32),
}

impl Stack {
    /// Instrumented host code records that `function` calls, or returns.
    pub fn tell(&mut self, (function, sp): (u32, usize), depth: usize, what: What) -> Seen {
        let left = self.left.take();
        // Frames below are no more, however they were left.
        while self
            .frames
            .last()
            .is_some_and(|top| top.depth > depth || (top.depth == depth && top.sp < sp))
        {
            self.frames.pop();
        }
        let seen = match self.frames.last_mut() {
            Some(top) if top.depth == depth && top.function == function && top.sp == sp => {
                Seen::Known
            }
            // Where it calls itself that is missed.
            Some(top) if top.depth == depth && top.function == function && what.grows => {
                top.sp = sp;
                Seen::Known
            }
            top => {
                let caller = match top {
                    // Its frame is there no more.
                    Some(top) if top.depth == depth && top.sp == sp => {
                        self.frames.pop();
                        self.frames.last().map(|top| top.function)
                    }
                    top => top.map(|top| top.function),
                };
                self.frames.push(Frame {
                    function,
                    sp,
                    depth,
                });
                left.map_or(Seen::Called(caller), Seen::Followed)
            }
        };
        if what.returns || what.leaves {
            self.frames.pop();
        }
        self.left = what.leaves.then_some(function);
        seen
    }

    /// The function that has just left by a tail call, if one has.
    pub fn take_left(&mut self) -> Option<u32> {
        self.left.take()
    }

    /// NxP code calls the host.
    pub fn enter_host(&mut self, function: u32, depth: usize) {
        self.left = None;
        self.frames.push(Frame {
            function,
            sp: usize::MAX,
            depth,
        });
    }

    /// The host has returned to NxP code.
    pub fn leave_host(&mut self, depth: usize) {
        self.left = None;
        while self.frames.last().is_some_and(|top| top.depth >= depth) {
            self.frames.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: What = What {
        returns: false,
        grows: false,
        leaves: false,
    };
    const RETURNS: What = What {
        returns: true,
        ..CALLS
    };
    const LEAVES: What = What {
        leaves: true,
        ..CALLS
    };

    #[test]
    fn calls_and_returns() {
        let mut stack = Stack::default();
        // main calls a twice, a leaf; then b, which calls a.
        assert_eq!(stack.tell((1, 900), 0, CALLS), Seen::Called(None));
        assert_eq!(stack.tell((2, 800), 0, RETURNS), Seen::Called(Some(1)));
        assert_eq!(stack.tell((2, 800), 0, RETURNS), Seen::Called(Some(1)));
        assert_eq!(stack.tell((3, 800), 0, CALLS), Seen::Called(Some(1)));
        assert_eq!(stack.tell((2, 700), 0, RETURNS), Seen::Called(Some(3)));
        assert_eq!(stack.tell((3, 800), 0, RETURNS), Seen::Known);
        assert_eq!(stack.tell((1, 900), 0, RETURNS), Seen::Known);
        assert_eq!(stack.tell((1, 900), 0, RETURNS), Seen::Called(None));
    }

    #[test]
    fn recursion() {
        let mut stack = Stack::default();
        stack.tell((1, 900), 0, CALLS);
        assert_eq!(stack.tell((1, 800), 0, CALLS), Seen::Called(Some(1)));
        assert_eq!(stack.tell((1, 700), 0, RETURNS), Seen::Called(Some(1)));
        assert_eq!(stack.tell((1, 800), 0, RETURNS), Seen::Known);
        assert_eq!(stack.tell((1, 900), 0, RETURNS), Seen::Known);
    }

    #[test]
    fn growing_frames() {
        let grows = What {
            grows: true,
            ..CALLS
        };
        let mut stack = Stack::default();
        stack.tell((1, 900), 0, CALLS);
        assert_eq!(stack.tell((2, 800), 0, grows), Seen::Called(Some(1)));
        assert_eq!(stack.tell((3, 700), 0, RETURNS), Seen::Called(Some(2)));
        assert_eq!(stack.tell((2, 750), 0, grows), Seen::Known);
        assert_eq!(stack.tell((1, 900), 0, RETURNS), Seen::Known);
    }

    #[test]
    fn frames_that_are_left_without_a_word() {
        let mut stack = Stack::default();
        stack.tell((1, 900), 0, CALLS);
        stack.tell((2, 800), 0, CALLS);
        stack.tell((3, 700), 0, CALLS);
        // An exception: the first goes on.
        assert_eq!(stack.tell((1, 900), 0, CALLS), Seen::Known);
        // A tail call has taken the frame.
        assert_eq!(stack.tell((4, 850), 0, CALLS), Seen::Called(Some(1)));
        assert_eq!(stack.tell((5, 850), 0, RETURNS), Seen::Called(Some(1)));
    }

    #[test]
    fn tail_calls() {
        let mut stack = Stack::default();
        stack.tell((1, 900), 0, CALLS);
        // Two functions by turns, the second with the larger frame, then a leaf.
        assert_eq!(stack.tell((2, 800), 0, LEAVES), Seen::Called(Some(1)));
        assert_eq!(stack.tell((3, 700), 0, LEAVES), Seen::Followed(2));
        assert_eq!(stack.tell((2, 800), 0, LEAVES), Seen::Followed(3));
        assert_eq!(stack.tell((4, 850), 0, RETURNS), Seen::Followed(2));
        assert_eq!(stack.tell((4, 850), 0, RETURNS), Seen::Called(Some(1)));
        // To the NxP.
        stack.tell((2, 800), 0, LEAVES);
        assert_eq!(stack.take_left(), Some(2));
        assert_eq!(stack.tell((1, 900), 0, CALLS), Seen::Known);
        // To a library's function, which records nothing.
        stack.tell((2, 800), 0, LEAVES);
        assert_eq!(stack.tell((1, 900), 0, CALLS), Seen::Known);
        assert_eq!(stack.take_left(), None);
    }

    #[test]
    fn crossings() {
        let mut stack = Stack::default();
        stack.tell((1, 900), 0, CALLS);
        stack.enter_host(7, 1);
        assert_eq!(stack.tell((2, 500), 1, RETURNS), Seen::Called(Some(7)));
        stack.leave_host(1);
        assert_eq!(stack.tell((1, 900), 0, CALLS), Seen::Known);
        // Left by longjmp.
        stack.enter_host(7, 1);
        stack.tell((2, 500), 1, CALLS);
        assert_eq!(stack.tell((1, 900), 0, RETURNS), Seen::Known);
    }
}
