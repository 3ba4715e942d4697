//! How many moves signatures have.
use super::draft::{__flick_moves, code_of};
use super::*;
use crate::modules::signatures;
use std::ffi::CString;

/// How many moves there are besides the call, to the NxP and to the host; `None`: the slow path calls.
fn counts(text: &str) -> [Option<usize>; 2] {
    let text = CString::new(text).unwrap();
    // SAFETY: a C string.
    let plan = unsafe { signatures::understood(text.as_ptr()) }.unwrap();
    let count = |moves: &Moves, call: usize| {
        // SAFETY: moves end with the call.
        let code = |n| unsafe { (*moves.first.add(n)).code };
        let is_call = |at: &usize| code(*at) == code_of(call);
        let calls =
            |at: usize| (number::BOXES_CALL..number::CALL_HOST).any(|n| code(at) == code_of(n));
        let end = || (0..).find(|at| is_call(at) || calls(*at)).unwrap();
        (!moves.first.is_null()).then(|| end() + usize::from(calls(end())))
    };
    [
        count(&plan.to_nxp, number::CALL_NXP),
        count(&plan.to_host, number::CALL_HOST),
    ]
}

#[test]
fn what_is_where_it_belongs_is_not_moved() {
    assert_eq!(counts("1f(llllllddd)"), [Some(0); 2]);
    assert_eq!(counts("1{dl}(pped)"), [Some(0); 2]);
    // The NxP has a box around a `float`; and a result in memory is remembered.
    assert_eq!(counts("1v(ffd)"), [Some(1), Some(0)]);
    assert_eq!(counts("1v(Sl)"), [Some(1), Some(0)]);
}

#[test]
fn arguments_behind_each_other_move_together() {
    assert_eq!(counts("1v(llllllll)"), [Some(1); 2]);
    assert_eq!(counts("1v(llllllllllllllll)"), [Some(1); 2]);
    assert_eq!(counts("1v(lllllllllllllllll)"), [Some(2); 2]);
    // The struct, and the two arguments whose registers it changes.
    assert_eq!(counts("1v(lB24a8ll)"), [Some(3); 2]);
    // Its last bytes, and the registers in which it is copied.
    assert_eq!(counts("1v(B29a8)"), [Some(1), Some(4)]);
}

#[test]
fn some_signatures_are_for_the_slow_path() {
    for text in ["1v(V)", "1V(l)", "1v(B32a32)", "1l(p.l)"] {
        assert_eq!(counts(text), [None; 2], "{text}");
    }
    // A call without arguments behind the dots; but a function with dots wants a `va_list`.
    assert_eq!(counts("1l(pl.)"), [None, Some(0)]);
    assert_eq!(counts(&format!("1v({})", "l".repeat(1000))), [None; 2]);
    assert_eq!(counts(&format!("1v({})", "lf".repeat(1000))), [None; 2]);
    assert_eq!(counts("1v(B1032a8)"), [Some(1), None]);
}

#[test]
fn the_table_has_all_moves() {
    unsafe extern "C" {
        static __flick_moves_end: u8;
    }
    let size = &raw const __flick_moves_end as usize - &raw const __flick_moves as usize;
    assert_eq!(size, size_of::<i32>() * number::COUNT);
}
