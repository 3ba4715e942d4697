//! Signatures read in one direction and written in the other.
use super::*;
use crate::modules::signatures::plan;
use std::mem::MaybeUninit;

/// An activation below the frame of the call that made it.
#[repr(C, align(64))]
struct Frame {
    act: Activation,
    saved: [u64; 2],
    stack: [u64; 40],
}

/// Takes arguments to the NxP and back to the host: what arrives is what was there. Returns how
/// many words arrived in general registers, vector registers and on the stack.
fn round_trip(signature: &std::ffi::CStr) -> [usize; 3] {
    // SAFETY: integers and pointers, for which zero is a value.
    let mut frame: Box<Frame> = Box::new(unsafe { MaybeUninit::zeroed().assume_init() });
    let ints: [u64; 6] = std::array::from_fn(|i| 100 + i as u64);
    let floats: [[u64; 2]; 8] = std::array::from_fn(|i| [200 + i as u64, 300 + i as u64]);
    frame.act.int_args = ints;
    frame.act.float_args = floats;
    frame.stack = std::array::from_fn(|i| 400 + i as u64);
    let act = &mut frame.act;
    // SAFETY: a C string.
    let plan = unsafe { plan(signature.as_ptr().cast()) };
    // SAFETY: the frame above the activation has more words than the signatures here name; the
    // stacks have the room that was asked for.
    let back = unsafe {
        let mut nxp = vec![0_u128; stack_size(act, plan) as usize / 16];
        act.context.hart.x[SP] = nxp.as_mut_ptr() as u64;
        enter_by_signature(act, plan, nxp.as_mut_ptr_range().end as u64);
        act.int_args = [0; 6];
        act.float_args = [[0; 2]; 8];
        call_by_signature(act, 0, plan);
        let mut back = vec![0_u128; act.call.stack_size as usize / 16];
        host_stack_args(act, back.as_mut_ptr().cast());
        back
    };
    // A boxed `float` comes back with its box.
    let arrived = |have: &[u64], was: &[u64]| {
        let words = have.iter().zip(was).filter(|(have, _)| **have != 0);
        words
            .inspect(|(have, was)| assert_eq!(**have as u32, **was as u32, "{signature:?}"))
            .count()
    };
    let back: Vec<u64> = back
        .iter()
        .flat_map(|w| [*w as u64, (*w >> 64) as u64])
        .collect();
    [
        arrived(&act.int_args, &ints),
        arrived(act.float_args.as_flattened(), floats.as_flattened()),
        arrived(&back, &frame.stack),
    ]
}

#[test]
fn arguments_arrive_on_both_sides() {
    assert_eq!(round_trip(c"1v(pilbcs)"), [6, 0, 0]);
    assert_eq!(round_trip(c"1v(lllllllll)"), [6, 0, 3]);
    assert_eq!(round_trip(c"1v(fdegV)"), [0, 6, 0]);
    assert_eq!(round_trip(c"1v(VVVVVVVVVlV)"), [1, 16, 4]);
    assert_eq!(round_trip(c"1v(ddddddddfdVlV)"), [1, 8, 6]);
    assert_eq!(round_trip(c"1v(xxxl)"), [6, 0, 1]);
    // No register is left behind a 128-bit integer that found no two.
    assert_eq!(round_trip(c"1v(lllllxl)"), [5, 0, 3]);
    assert_eq!(round_trip(c"1v(llllllllxl)"), [6, 0, 5]);
    assert_eq!(round_trip(c"1v(SB24a8lB16a16fB5a8)"), [2, 1, 6]);
}

#[test]
fn a_variadic_definition_finds_what_is_left() {
    // SAFETY: as above.
    let mut frame: Box<Frame> = Box::new(unsafe { MaybeUninit::zeroed().assume_init() });
    frame.act.int_args = std::array::from_fn(|i| 100 + i as u64);
    frame.act.float_args = std::array::from_fn(|i| [200 + i as u64, 300 + i as u64]);
    // SAFETY: a C string.
    let plan = unsafe { plan(c"1v(pidlllll.)".as_ptr().cast()) };
    let above = frame.stack.as_ptr() as u64;
    let act = &mut frame.act;
    // SAFETY: the stack has the room that was asked for.
    unsafe {
        let mut nxp = vec![0_u128; stack_size(act, plan) as usize / 16];
        act.context.hart.x[SP] = nxp.as_mut_ptr() as u64;
        enter_by_signature(act, plan, nxp.as_mut_ptr_range().end as u64);
        let list = act.context.hart.x[T2] as *const u64;
        assert_eq!(list.read(), 48 | 64 << 32);
        assert_eq!(list.add(1).read(), above + 8);
        let area = list.add(2).read() as *const u64;
        assert!(area.cast::<u128>().is_aligned());
        assert_eq!(area.add(1).read(), 101);
        assert_eq!([area.add(8).read(), area.add(9).read()], [201, 301]);
    }
}

#[test]
fn an_object_that_is_not_aligned_is_copied_to_an_aligned_place() {
    // SAFETY: as above.
    let mut frame: Box<Frame> = Box::new(unsafe { MaybeUninit::zeroed().assume_init() });
    frame.stack = std::array::from_fn(|i| 400 + i as u64);
    let act = &mut frame.act;
    // SAFETY: a C string.
    let plan = unsafe { plan(c"1v(B16a1024lB8a8B16a64lllllll)".as_ptr().cast()) };
    // SAFETY: the stack has the room that was asked for, the frame the words that the signature
    // names.
    unsafe {
        assert!(!(act.host_stack_args() as usize).is_multiple_of(64));
        let mut nxp = vec![0_u128; stack_size(act, plan) as usize / 16];
        let stack = nxp.as_mut_ptr_range();
        act.context.hart.x[SP] = stack.start as u64;
        enter_by_signature(act, plan, stack.end as u64);
        let copied = |register: usize, align: usize| {
            let object = act.context.hart.x[A0 + register] as *const [u64; 2];
            assert!((object as usize).is_multiple_of(align));
            assert!(stack.contains(&object.cast_mut().cast()));
            object.read()
        };
        assert_eq!(copied(0, 1024), [400, 401]);
        assert_eq!(
            act.context.hart.x[A0 + 2],
            act.host_stack_args().add(2) as u64
        );
        // The host's offset, not its address, is a multiple of 64.
        assert_eq!(copied(3, 64), [408, 409]);
        // Behind the registers: the host's seventh integer, on both stacks.
        assert_eq!(stack.start.cast::<u64>().add(1).read(), 410);
    }
}
