//! Branches that the near table of a thread does not know for sure (`branch_table.rs`): tables by longer histories,
//! as processors have them (Seznec and Michaud, "A case for (partially) tagged geometric history length branch
//! prediction", 2006). An entry has a tag, so that an empty place predicts nothing. The entry of the longest
//! history that is there predicts, or else the counter of the near table. A wrong prediction makes an entry of a
//! longer history.
//!
//! Instrumented code calls in the midst of a function, with whatever is in its registers. So this is assembly, which
//! keeps them.
use std::arch::naked_asm;
use std::mem::offset_of;

use flick_abi::timed::{BRANCH_COUNTERS, BRANCH_HISTORY, BRANCH_REST, BRANCH_TARGETS, BranchTable};

/// log2 of the entries of each table.
const LOG2_ENTRIES: u32 = 12;
const ENTRIES: usize = 1 << LOG2_ENTRIES;
/// Directions that the tables know: the last 16, 32 and 63.
const TABLES: usize = 3;
/// States of a counter of the near table: see [`BranchTable`].
const STATES: usize = 16;
/// One of so many branches that go as the near table says is looked at all the same. Otherwise an entry for an
/// exception would never learn that it is one.
pub const REST: u64 = 16;
/// They mix a history and a branch's own number. The highest bits of the sum of both products are the place, and
/// those below are the tag.
const OF_HISTORY: u64 = 0x9e37_79b9_7f4a_7c15;
const OF_NUMBER: u64 = 0xd6e8_feb8_6659_fd93;

/// All tables of a thread. Those that the code knows come first.
#[derive(Debug)]
#[repr(C)]
pub struct LongTables {
    pub near: BranchTable,
    /// The next state of a counter, by twice the state and the direction.
    next: [u8; 2 * STATES],
    /// By the length of the history. An entry has a tag (15:4), whether it was of use (3), and a counter (2:0), which
    /// predicts that the branch is taken from 4 on.
    entries: [[u16; ENTRIES]; TABLES],
    /// The last target after the last 32 directions: a tag (15:8), and the target's lowest byte.
    targets: [u16; ENTRIES],
}

/// The next state: a branch that goes its way is surer of it. One exception is forgiven where it was sure.
const fn next(state: usize, taken: bool) -> u8 {
    // As if it were taken.
    let last = STATES - 1;
    let from = if taken { state } else { last - state };
    let to = match from {
        15 => 15,
        8..15 => from + 1,
        7 => 8,
        0 => 6,
        _ => 7,
    };
    (if taken { to } else { last - to }) as u8
}

impl LongTables {
    /// Nothing is known.
    pub fn new(near: BranchTable) -> Self {
        Self {
            near,
            next: std::array::from_fn(|case| next(case / 2, case % 2 != 0)),
            entries: [[0; ENTRIES]; TABLES],
            targets: [0; ENTRIES],
        }
    }
}

/// What [`BranchTable::far`] is.
///
/// # Safety
/// Instrumented code alone calls it, by its own convention.
#[unsafe(naked)]
pub unsafe extern "C" fn branch() {
    naked_asm!(
        ".cfi_startproc",
        "push rsi", "push r8", "push r9", "push r10", "push r11", "push rbx", "push rbp", "push r12",
        ".cfi_def_cfa_offset 72",
        "mov qword ptr [rdi + {rest_at}], {rest}",
        // The counter's next state; esi: what it has predicted.
        "movzx esi, byte ptr [rdi + rax + {counters}]",
        "lea r8d, [rdx + rsi*2]",
        "movzx r8d, byte ptr [rdi + r8 + {next}]",
        "mov byte ptr [rdi + rax + {counters}], r8b",
        "shr esi, 3",
        // r8, r10, r11: of the three histories, without this branch; rcx: of the number.
        "mov r11, qword ptr [rdi + {history}]",
        "shr r11",
        "movabs r9, {of_number}",
        "imul rcx, r9",
        "movabs r9, {of_history}",
        "movzx r8d, r11w",
        "mov r10d, r11d",
        "imul r8, r9",
        "imul r10, r9",
        "imul r11, r9",
        "add r8, rcx",
        "add r10, rcx",
        "add r11, rcx",
        // The longest history that is there. eax: its entry, whose table is r9, and whose place is rbx.
        "mov r9d, 2",
        "mov rcx, r11",
        "call 20f",
        "je 30f",
        "mov r9d, 1",
        "mov rcx, r10",
        "call 20f",
        "je 30f",
        "xor r9d, r9d",
        "mov rcx, r8",
        "call 20f",
        "je 30f",
        // None.
        "mov r9d, -1",
        "mov ecx, esi",
        "jmp 40f",
        // rbp: the tag of a mixture rcx in table r9.
        "20:",
        "mov rbx, rcx",
        "shr rbx, {of_place}",
        "mov rbp, r9",
        "shl rbp, {log2_entries}",
        "add rbx, rbp",
        "lea rbx, [rdi + rbx*2 + {entries}]",
        "mov rbp, rcx",
        "shr rbp, {of_tag}",
        "and ebp, 0xfff",
        "movzx eax, word ptr [rbx]",
        "mov r12d, eax",
        "shr r12d, 4",
        "cmp r12d, ebp",
        "ret",
        // What the entry predicts: ecx. Its counter goes towards the direction.
        "30:",
        "mov ecx, eax",
        "shr ecx, 2",
        "and ecx, 1",
        "mov ebp, eax",
        "and ebp, 7",
        "lea ebp, [rbp + rdx*2 - 1]",
        "xor r12d, r12d",
        "test ebp, ebp",
        "cmovs ebp, r12d",
        "mov r12d, 7",
        "cmp ebp, 7",
        "cmovg ebp, r12d",
        "and eax, 0xfff8",
        "or ebp, eax",
        // It was of use if the counter of the near table was wrong, and is of no use if it was wrong itself.
        "cmp ecx, edx",
        "jne 31f",
        "cmp esi, edx",
        "je 32f",
        "or ebp, 8",
        "jmp 32f",
        "31:",
        "and ebp, -9",
        "32:",
        "mov word ptr [rbx], bp",
        // Was the prediction ecx wrong?
        "40:",
        "xor ecx, edx",
        "jz 50f",
        // An entry for a longer history, in the place of one that is of no use.
        "lea esi, [rdx + 3]",
        "41:",
        "inc r9d",
        "cmp r9d, 2",
        "jg 42f",
        "mov rcx, r8",
        "cmp r9d, 1",
        "cmove rcx, r10",
        "cmovg rcx, r11",
        "call 20b",
        "test eax, 8",
        "jnz 43f",
        "shl ebp, 4",
        "or ebp, esi",
        "mov word ptr [rbx], bp",
        "jmp 42f",
        // One of use becomes free for the next time.
        "43:",
        "and eax, -9",
        "mov word ptr [rbx], ax",
        "jmp 41b",
        "42:",
        "mov ecx, 16",
        "50:",
        "pop r12", "pop rbp", "pop rbx", "pop r11", "pop r10", "pop r9", "pop r8", "pop rsi",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        counters = const BRANCH_COUNTERS,
        history = const BRANCH_HISTORY,
        rest_at = const BRANCH_REST,
        rest = const REST,
        next = const offset_of!(LongTables, next),
        entries = const offset_of!(LongTables, entries),
        log2_entries = const LOG2_ENTRIES,
        of_place = const u64::BITS - LOG2_ENTRIES,
        of_tag = const u64::BITS - LOG2_ENTRIES - 12,
        of_number = const OF_NUMBER,
        of_history = const OF_HISTORY,
    )
}

/// What [`BranchTable::far_target`] is.
///
/// # Safety
/// As [`branch`].
#[unsafe(naked)]
pub unsafe extern "C" fn target() {
    naked_asm!(
        ".cfi_startproc",
        "push rsi",
        ".cfi_def_cfa_offset 16",
        "mov byte ptr [rdi + rax + {near}], dl",
        // The history without this target.
        "mov rax, qword ptr [rdi + {history}]",
        "shr rax, 2",
        "mov eax, eax",
        "movabs rsi, {of_history}",
        "imul rax, rsi",
        "movabs rsi, {of_number}",
        "imul rcx, rsi",
        "add rax, rcx",
        "mov rcx, rax",
        "shr rcx, {of_place}",
        "shr rax, {of_tag}",
        "mov ah, al",
        "mov al, dl",
        "movzx eax, ax",
        "lea rsi, [rdi + rcx*2 + {targets}]",
        "xor ecx, ecx",
        "cmp word ptr [rsi], ax",
        "setne cl",
        "shl ecx, 4",
        "mov word ptr [rsi], ax",
        "pop rsi",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        near = const BRANCH_TARGETS,
        history = const BRANCH_HISTORY,
        targets = const offset_of!(LongTables, targets),
        of_place = const u64::BITS - LOG2_ENTRIES,
        of_tag = const u64::BITS - LOG2_ENTRIES - 8,
        of_number = const OF_NUMBER,
        of_history = const OF_HISTORY,
    )
}

#[cfg(test)]
mod tests {
    use std::arch::asm;

    use flick_abi::timed::{BRANCH_COUNT, BRANCH_SHIFT};

    use super::super::branch_table::table;
    use super::*;

    const COST: i64 = 7;

    fn place(history: u64, number: u32) -> usize {
        (((history as u32) << BRANCH_SHIFT ^ number) as usize) % BRANCH_COUNT
    }

    /// Calls one of the functions as the code does, with something in each register that it keeps.
    fn call(
        table: &mut LongTables,
        far: unsafe extern "C" fn(),
        at: usize,
        number: u32,
        what: u64,
    ) -> i64 {
        let (cost, kept): (u64, u64);
        // SAFETY: the function's own convention.
        unsafe {
            asm!(
                "mov r8, 8", "mov r9, 9", "mov r10, 10", "mov r11, 11", "mov rsi, 6",
                "call {far}",
                "add rsi, r8", "add rsi, r9", "add rsi, r10", "add rsi, r11",
                far = in(reg) far,
                inout("rax") at => _,
                inout("rcx") u64::from(number) => cost,
                in("rdx") what,
                in("rdi") &raw mut *table,
                out("rsi") kept, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            );
        }
        assert_eq!(kept, 6 + 8 + 9 + 10 + 11);
        table.near.costs[cost as usize / size_of::<flick_abi::timed::Price>()].host
    }

    /// What the code of a branch does.
    fn branches(table: &mut LongTables, number: u32, taken: bool) -> i64 {
        let at = place(table.near.history, number);
        table.near.history = table.near.history << 1 | u64::from(taken);
        let is_sure = (table.near.counters[at] + u8::from(taken)).is_multiple_of(16);
        table.near.rest -= u64::from(is_sure);
        match is_sure && table.near.rest != 0 {
            true => 0,
            false => {
                let far = table.near.far;
                call(table, far, at, number, taken.into())
            }
        }
    }

    fn goes_to(table: &mut LongTables, number: u32, target: u8) -> i64 {
        let at = place(table.near.history, number);
        table.near.history = table.near.history << 2 ^ u64::from(target);
        match table.near.targets[at] == target {
            true => 0,
            false => {
                let far = table.near.far_target;
                call(table, far, at, number, target.into())
            }
        }
    }

    /// The same as the code of [`branch`], in Rust.
    #[derive(Default)]
    struct Model {
        history: u64,
        rest: u64,
        counters: Vec<u8>,
        entries: Vec<[u16; ENTRIES]>,
    }

    impl Model {
        fn new() -> Self {
            Self {
                history: 0,
                rest: REST,
                counters: vec![7; BRANCH_COUNT],
                entries: vec![[0; ENTRIES]; TABLES],
            }
        }

        fn branches(&mut self, number: u32, taken: bool) -> i64 {
            let before = self.history & u64::MAX >> 1;
            let at = place(self.history, number);
            self.history = self.history << 1 | u64::from(taken);
            let state = self.counters[at];
            if (state, taken) == (15, true) || (state, taken) == (0, false) {
                self.rest -= 1;
                if self.rest != 0 {
                    return 0;
                }
            }
            self.rest = REST;
            let near = state >= 8;
            self.counters[at] = next(state.into(), taken);
            let mixture = |table: usize| {
                let history = before & u64::MAX >> [48, 32, 0][table];
                let mixed = history.wrapping_mul(OF_HISTORY);
                let mixed = mixed.wrapping_add(u64::from(number).wrapping_mul(OF_NUMBER));
                ((mixed >> 52) as usize, (mixed >> 40) as u16 & 0xfff)
            };
            let of = |table: usize, all: &[[u16; ENTRIES]]| {
                let (place, tag) = mixture(table);
                all[table][place] >> 4 == tag
            };
            let found = (0..TABLES).rev().find(|&table| of(table, &self.entries));
            let mut right = near == taken;
            if let Some(table) = found {
                let entry = &mut self.entries[table][mixture(table).0];
                let counter = *entry & 7;
                right = (counter >= 4) == taken;
                let counter = match taken {
                    true => (counter + 1).min(7),
                    false => counter.saturating_sub(1),
                };
                *entry = *entry & !7 | counter;
                match (right, near == taken) {
                    (true, false) => *entry |= 8,
                    (false, _) => *entry &= !8,
                    _ => {}
                }
            }
            if right {
                return 0;
            }
            for table in found.map_or(0, |table| table + 1)..TABLES {
                let (place, tag) = mixture(table);
                let entry = &mut self.entries[table][place];
                if *entry & 8 == 0 {
                    *entry = tag << 4 | if taken { 4 } else { 3 };
                    break;
                }
                *entry &= !8;
            }
            COST
        }
    }

    /// Numbers that have no pattern.
    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *seed >> 33
    }

    #[test]
    fn the_code_does_what_the_model_does() {
        let (mut table, mut model, mut seed) = (table(COST as u64), Model::new(), 1);
        for turn in 0..200_000_u64 {
            // Branches of several kinds: at random, seldom taken, in patterns of several lengths.
            let number = (random(&mut seed) % 40) as u32;
            let taken = match number % 5 {
                0 => random(&mut seed).is_multiple_of(2),
                1 => random(&mut seed).is_multiple_of(64),
                2 => turn % 3 == 0,
                3 => turn % 50 == 0,
                _ => model.history.count_ones() % 2 == 0,
            };
            let number = number.wrapping_mul(0x9e37_79b9);
            let cost = branches(&mut table, number, taken);
            assert_eq!(cost, model.branches(number, taken), "{turn}");
        }
        assert_eq!(table.near.counters.as_slice(), model.counters);
        assert_eq!(table.entries.as_slice(), model.entries);
    }

    /// Wrong predictions among the last thousand of a branch.
    fn wrong(mut direction: impl FnMut(u64) -> bool) -> i64 {
        let mut table = table(COST as u64);
        for n in 0..20_000 {
            branches(&mut table, 5, direction(n));
        }
        let last = (20_000..21_000).map(|n| branches(&mut table, 5, direction(n)));
        last.sum::<i64>() / COST
    }

    #[test]
    fn patterns_are_learned() {
        assert_eq!(wrong(|_| true), 0);
        assert_eq!(wrong(|n| n % 2 == 0), 0);
        // A loop that ends after 40 iterations, which the last 10 directions do not show.
        assert_eq!(wrong(|n| n % 40 != 0), 0);
        // More than the longest history.
        assert!(wrong(|n| n % 200 != 0) >= 5);
        let mut seed = 3;
        let of_random = wrong(|_| random(&mut seed).is_multiple_of(2));
        assert!((400..600).contains(&of_random), "{of_random}");
        let mut seed = 3;
        let seldom = wrong(|_| random(&mut seed).is_multiple_of(50));
        assert!((10..40).contains(&seldom), "{seldom}");
    }

    #[test]
    fn targets_are_learned_by_what_was_before() {
        let mut table = table(COST as u64);
        let mut go = |n: u64| goes_to(&mut table, 9, [3, 4, 3, 5, 3, 3, 6][n as usize % 7]);
        for n in 0..100 {
            go(n);
        }
        assert_eq!((100..200).map(go).sum::<i64>(), 0);
        let mut table = super::super::branch_table::table(COST as u64);
        let mut seed = 3;
        let mut go = |_| goes_to(&mut table, 9, (random(&mut seed) % 4) as u8) / COST;
        let wrong = (0..1000).map(&mut go).sum::<i64>();
        assert!((600..900).contains(&wrong), "{wrong}");
    }
}
