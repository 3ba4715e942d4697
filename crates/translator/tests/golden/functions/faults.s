# Where registers are at accesses: `state` says where the guest's are that are alive.
  .text

  .globl several_places
  .type several_places, @function
several_places:
  addi a2, a0, 8
  addw a3, a1, a1
  sh2add a4, a1, a0
  li a5, 77
  ld a6, 0(a0)
  add a0, a2, a3
  add a0, a0, a4
  add a0, a0, a5
  add a0, a0, a6
  ret
  .size several_places, . - several_places

  .globl spilled
  .type spilled, @function
spilled:
  addi sp, sp, -16
  sd ra, 8(sp)
  sd s4, 0(sp)
  mv s4, a1
  call answer
  ld a0, 0(s4)
  add a0, a0, s4
  ld ra, 8(sp)
  ld s4, 0(sp)
  addi sp, sp, 16
  ret
  .size spilled, . - spilled

  .globl answer
  .type answer, @function
answer:
  li a0, 42
  ret
  .size answer, . - answer

  .globl in_a_loop
  .type in_a_loop, @function
in_a_loop:
  li a2, 0
1:
  ld a3, 0(a0)
  sd a3, 0(a1)
  addi a0, a0, 8
  addi a1, a1, 8
  addi a2, a2, 1
  bnez a3, 1b
  mv a0, a2
  ret
  .size in_a_loop, . - in_a_loop

  .globl nan_to_be_made_canonical
  .type nan_to_be_made_canonical, @function
nan_to_be_made_canonical:
  fadd.d fa0, fa0, fa1
  ld a1, 0(a0)
  fsd fa0, 8(a0)
  mv a0, a1
  ret
  .size nan_to_be_made_canonical, . - nan_to_be_made_canonical

# A check for NaN waits for the next; the load between finds the unchecked value.
  .globl nan_to_be_checked_later
  .type nan_to_be_checked_later, @function
nan_to_be_checked_later:
  fadd.d fa5, fa0, fa1
  ld a1, 0(a0)
  fmul.d fa4, fa0, fa1
  fsd fa5, 8(a0)
  fsd fa4, 16(a0)
  fadd.s fa3, fa2, fa2
  flw fa0, 24(a0)
  fmul.s fa2, fa0, fa3
  fsw fa3, 28(a0)
  fsw fa2, 32(a0)
  mv a0, a1
  ret
  .size nan_to_be_checked_later, . - nan_to_be_checked_later

  # The accesses have the parts of t1, and so have their states.
  .globl sums
  .type sums, @function
sums:
  add t1, a0, a1
  ld a2, 0(t1)
  lbu a3, 8(t1)
  sd a2, 16(t1)
  addi t2, a0, 64
  ld a4, 0(t2)
  sd a3, 8(t2)
  add a0, a2, a4
  ret
  .size sums, . - sums

# An early return, which makes no frame; the other way saves registers behind the branch.
  .globl early_return
  .type early_return, @function
early_return:
  addi sp, sp, -32
  sd ra, 24(sp)
  sd s0, 16(sp)
  sd s4, 8(sp)
  li a5, 2
  li s4, 7
  bltu a0, a5, .Lout
  addi s0, a0, -2
  addi a0, a0, -1
  call early_return
  add a0, a0, s0
  add a0, a0, s4
.Lout:
  ld ra, 24(sp)
  ld s0, 16(sp)
  ld s4, 8(sp)
  addi sp, sp, 32
  ret
  .size early_return, . - early_return

# The load may fault, and then the frame is there.
  .globl early_load
  .type early_load, @function
early_load:
  addi sp, sp, -16
  sd ra, 8(sp)
  lw a1, 0(a0)
  beqz a1, .Lempty
  call answer
.Lempty:
  ld ra, 8(sp)
  addi sp, sp, 16
  ret
  .size early_load, . - early_load
