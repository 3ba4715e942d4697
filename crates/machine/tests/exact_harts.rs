//! What the manual says of rare things, as bare programs see it: reservations, jumps to odd half-words,
//! vectors while floating point is off. Each runs interpreted and translated.
mod bare_assembly;
mod bare_machine;

use bare_assembly::build;
use bare_machine::{Quiet, on_machine};
use flick_machine::End;

/// The statuses of a program on harts with these settings, interpreted and translated.
fn statuses_with(name: &str, march: &str, settings: &[&str], text: &str) -> [u32; 2] {
    let firmware = build(name, march, text);
    let isa = format!("isa={march}_zicntr");
    let settings = [&["memory=16M", &*isa], settings].concat();
    [None, Some(2)].map(|executions| {
        on_machine("virt", &settings, vec![], &firmware, |machine, _| {
            machine.translate_after(executions);
            machine.limit(10_000_000);
            match machine.run(&mut Quiet) {
                End::Exit(status) => status,
                end => panic!("{end:?}"),
            }
        })
    })
}

/// The statuses of a program on so many harts.
fn statuses(name: &str, march: &str, harts: usize, text: &str) -> [u32; 2] {
    statuses_with(name, march, &[&format!("harts={harts}")], text)
}

/// Hart 0 reserves a word, and lets hart 1 store twice to `place`. The status is what the
/// store-conditional says, and 2 if it has stored.
fn interfere(name: &str, place: i32) -> [u32; 2] {
    let text = format!(
        r#"
program:
  la s0, word
  la s1, turn
  bnez a0, other
  # Stores to the page have been made before.
  li t0, 5
  sw t0, 0(s0)
  li s2, 100
again:
  lr.w a1, (s0)
  li t0, 1
  sw t0, 0(s1)
1: lw t0, 0(s1)
  li t1, 2
  bne t0, t1, 1b
  li t0, 7
  sc.w a0, t0, (s0)
  # Each of the four steps is seen before the next one.
  li t0, 3
  sw t0, 0(s1)
5: lw t0, 0(s1)
  bnez t0, 5b
  addi s2, s2, -1
  bnez s2, again
  lw t1, 0(s0)
  li t0, 7
  bne t0, t1, 2f
  addi a0, a0, 2
2: j end
other:
  sw zero, {place}(s0)
3: lw t0, 0(s1)
  li t1, 1
  bne t0, t1, 3b
  lw t2, {place}(s0)
  li t0, 9
  sw t0, {place}(s0)
  sw t2, {place}(s0)
  li t0, 2
  sw t0, 0(s1)
4: lw t0, 0(s1)
  li t1, 3
  bne t0, t1, 4b
  sw zero, 0(s1)
  j 3b
.data
.balign 4096
word: .word 5
.balign 256
turn: .word 0
.balign 4096
"#
    );
    statuses(name, "rv64gc", 2, &text)
}

#[test]
fn a_store_of_the_same_value_breaks_a_reservation() {
    assert_eq!(interfere("aba", 0), [1; 2]);
    assert_eq!(interfere("aba_line", 60), [1; 2]);
    assert_eq!(interfere("not_aba", 64), [2; 2]);
}

#[test]
fn a_lock_of_reservations_makes_progress() {
    let text = r#"
program:
  la s0, lock
  li s1, 1000
1: lr.w t0, (s0)
  bnez t0, 1b
  li t1, 1
  sc.w t0, t1, (s0)
  bnez t0, 1b
  lw t1, 8(s0)
  addi t1, t1, 1
  sw t1, 8(s0)
  fence
  sw zero, 0(s0)
  addi s1, s1, -1
  bnez s1, 1b
  bnez a0, 3f
  li t2, 4000
2: lw t1, 8(s0)
  bne t1, t2, 2b
  li a0, 3
  j end
3: wfi
  j 3b
.data
.balign 64
lock: .quad 0, 0
"#;
    assert_eq!(statuses("lock", "rv64gc", 4, text), [3; 2]);
}

/// A loop jumps by `jump` to the odd half-word behind `a1`; the status is how many exceptions were right.
fn odd_jumps(name: &str, jump: &str) -> [u32; 2] {
    let text = format!(
        r#"
program:
  la t0, handler
  csrw mtvec, t0
  # Bit 1 of mepc reads as zero.
  li t0, 0x80000006
  csrw mepc, t0
  csrr t1, mepc
  addi t0, t0, -2
  bne t0, t1, fail
  li s0, 0
  li s1, 50
again:
  la a1, target
  li ra, 77
here:
  {jump}
fail:
  li a0, 1
  j end
target:
  nop
  nop
.balign 4
handler:
  csrr t0, mcause
  bnez t0, fail
  csrr t0, mtval
  addi t1, a1, 2
  bne t0, t1, fail
  csrr t0, mepc
  la t1, here
  bne t0, t1, fail
  # The jump has had no effect.
  li t0, 77
  bne ra, t0, fail
  addi s0, s0, 1
  bne s0, s1, again
  mv a0, s0
  j end
"#
    );
    statuses(name, "rv64g", 1, &text)
}

#[test]
fn jumps_to_odd_half_words_raise_exceptions() {
    assert_eq!(odd_jumps("odd_jalr", "jalr ra, 2(a1)"), [50; 2]);
    assert_eq!(
        odd_jumps("odd_jal", ".word 0x00e000ef # target + 2"),
        [50; 2]
    );
    assert_eq!(
        odd_jumps("odd_branch", ".word 0x00000763 # beqz zero, target + 2"),
        [50; 2]
    );
}

#[test]
fn vectors_of_floating_point_need_it_on() {
    let text = r#"
program:
  la t0, handler
  csrw mtvec, t0
  li s0, 0
  # VS is initial, FS off.
  li t0, 0x200
  csrs mstatus, t0
  vsetivli zero, 2, e32, m1, ta, ma
  vadd.vv v1, v2, v3
  vfadd.vv v1, v2, v3
  vfmv.v.f v1, fa0
  li t0, 2
  bne s0, t0, fail
  csrr t0, mstatus
  srli t1, t0, 13
  andi t1, t1, 3
  bnez t1, fail
  # FS is clean.
  li t0, 0x4000
  csrs mstatus, t0
  vadd.vv v1, v2, v3
  csrr t0, mstatus
  srli t0, t0, 13
  andi t0, t0, 3
  li t1, 2
  bne t0, t1, fail
  vfadd.vv v1, v2, v3
  csrr t0, mstatus
  srli t0, t0, 13
  andi t0, t0, 3
  li t1, 3
  bne t0, t1, fail
  # A reserved rounding mode.
  li t0, 5
  csrw frm, t0
  vfsgnj.vv v1, v2, v3
  li a0, 3
  beq a0, s0, 1f
fail:
  li a0, 1
1: j end
.balign 4
handler:
  csrr t0, mcause
  li t1, 2
  bne t0, t1, fail
  addi s0, s0, 1
  csrr t0, mepc
  addi t0, t0, 4
  csrw mepc, t0
  mret
"#;
    assert_eq!(statuses("vector_floats", "rv64gcv", 1, text), [3; 2]);
}

/// "If satp is written with an unsupported MODE, the entire write has no effect" ("Supervisor Address
/// Translation and Protection (satp) Register").
#[test]
fn satp_takes_the_modes_that_the_file_gives() {
    let text = r#"
program:
  # Bit n of s0: mode n sticks.
  li s0, 0
  li s1, 0
1:
  li t0, 5
  csrw satp, t0
  slli t1, s1, 60
  addi t1, t1, 7
  csrw satp, t1
  csrr t2, satp
  beq t2, t1, sticks
  beq t2, t0, next
  li a0, 2
  j end
sticks:
  li t3, 1
  sll t3, t3, s1
  or s0, s0, t3
next:
  addi s1, s1, 1
  li t0, 16
  bne s1, t0, 1b
  mv a0, s0
  j end
"#;
    for (mmu, modes) in [
        ("bare", 0x001),
        ("sv39", 0x101),
        ("sv48", 0x301),
        ("sv57", 0x701),
    ] {
        let settings = ["harts=1", &*format!("tile.board.hart.mmu={mmu}")];
        let found = statuses_with(&format!("satp_{mmu}"), "rv64gc", &settings, text);
        assert_eq!(found, [modes; 2], "{mmu}");
    }
}
