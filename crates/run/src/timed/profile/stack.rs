//! The functions that a thread is in, told from what they tell themselves: each call and return comes with the
//! function's stack pointer.

/// A function's activation. Numbers are the profile's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    function: u32,
    /// Stack pointer; all ones for NxP code, which has another stack.
    sp: usize,
    /// Crossings from the host that the thread is in.
    depth: usize,
    /// It has told of a call.
    calls: bool,
}

#[derive(Debug, Default)]
pub struct Stack {
    frames: Vec<Frame>,
}

/// A call that has just become known: who has called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing new.
    Known,
    /// By that function, or by code outside.
    Called(Option<u32>),
}

impl Stack {
    /// Instrumented host code tells: `function` calls, or returns.
    pub fn tell(&mut self, function: u32, sp: usize, depth: usize, returns: bool) -> Seen {
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
            // Its frame has grown (alloca), or it has called itself.
            Some(top) if top.depth == depth && top.function == function && !top.calls => {
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
                    calls: false,
                });
                Seen::Called(caller)
            }
        };
        if returns {
            self.frames.pop();
        } else if let Some(top) = self.frames.last_mut() {
            top.calls = true;
        }
        seen
    }

    /// NxP code calls the host.
    pub fn enter_host(&mut self, function: u32, depth: usize) {
        self.frames.push(Frame {
            function,
            sp: usize::MAX,
            depth,
            calls: true,
        });
    }

    /// The host has returned to NxP code.
    pub fn leave_host(&mut self, depth: usize) {
        while self.frames.last().is_some_and(|top| top.depth >= depth) {
            self.frames.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_returns() {
        let mut stack = Stack::default();
        // main calls a twice, a leaf; then b, which calls a.
        assert_eq!(stack.tell(1, 900, 0, false), Seen::Called(None));
        assert_eq!(stack.tell(2, 800, 0, true), Seen::Called(Some(1)));
        assert_eq!(stack.tell(2, 800, 0, true), Seen::Called(Some(1)));
        assert_eq!(stack.tell(3, 800, 0, false), Seen::Called(Some(1)));
        assert_eq!(stack.tell(2, 700, 0, true), Seen::Called(Some(3)));
        assert_eq!(stack.tell(3, 800, 0, true), Seen::Known);
        assert_eq!(stack.tell(1, 900, 0, true), Seen::Known);
        assert_eq!(stack.tell(1, 900, 0, true), Seen::Called(None));
    }

    #[test]
    fn recursion_and_growing_frames() {
        let mut stack = Stack::default();
        stack.tell(1, 900, 0, false);
        assert_eq!(stack.tell(1, 800, 0, false), Seen::Called(Some(1)));
        assert_eq!(stack.tell(1, 700, 0, true), Seen::Called(Some(1)));
        assert_eq!(stack.tell(1, 800, 0, true), Seen::Known);
        assert_eq!(stack.tell(1, 900, 0, true), Seen::Known);
    }

    #[test]
    fn frames_that_are_left_without_a_word() {
        let mut stack = Stack::default();
        stack.tell(1, 900, 0, false);
        stack.tell(2, 800, 0, false);
        stack.tell(3, 700, 0, false);
        // An exception: the first goes on.
        assert_eq!(stack.tell(1, 900, 0, false), Seen::Known);
        // A tail call has taken the frame.
        assert_eq!(stack.tell(4, 850, 0, false), Seen::Called(Some(1)));
        assert_eq!(stack.tell(5, 850, 0, true), Seen::Called(Some(1)));
    }

    #[test]
    fn crossings() {
        let mut stack = Stack::default();
        stack.tell(1, 900, 0, false);
        stack.enter_host(7, 1);
        assert_eq!(stack.tell(2, 500, 1, true), Seen::Called(Some(7)));
        stack.leave_host(1);
        assert_eq!(stack.tell(1, 900, 0, false), Seen::Known);
        // Left by longjmp.
        stack.enter_host(7, 1);
        stack.tell(2, 500, 1, false);
        assert_eq!(stack.tell(1, 900, 0, true), Seen::Known);
    }
}
