# The stack pointer.
  .text

  .globl frame
  .type frame, @function
frame:
  addi sp, sp, -48
  sd a0, 8(sp)
  sd a1, 16(sp)
  addi a2, sp, 8
  ld a3, 0(a2)
  ld a0, 16(sp)
  add a0, a0, a3
  addi sp, sp, 48
  ret
  .size frame, . - frame

  .globl variable_size
  .type variable_size, @function
variable_size:
  addi sp, sp, -16
  sd s0, 0(sp)
  mv s0, sp
  addi a0, a0, 15
  andi a0, a0, -16
  sub sp, sp, a0
  sd a1, 0(sp)
  ld a0, 0(sp)
  mv sp, s0
  ld s0, 0(sp)
  addi sp, sp, 16
  ret
  .size variable_size, . - variable_size

  .globl large
  .type large, @function
large:
  lui t0, 1
  sub sp, sp, t0
  sd a0, 0(sp)
  ld a0, 0(sp)
  lui t0, 1
  add sp, sp, t0
  ret
  .size large, . - large

  .globl many_saved
  .type many_saved, @function
many_saved:
  addi sp, sp, -64
  sd ra, 56(sp)
  sd s0, 48(sp)
  sd s1, 40(sp)
  sd s2, 32(sp)
  sd s3, 24(sp)
  sd s4, 16(sp)
  mv s0, a0
  mv s1, a1
  mv s2, a2
  mv s3, a3
  mv s4, a4
  call ends
  add a0, a0, s0
  add a0, a0, s1
  add a0, a0, s2
  add a0, a0, s3
  add a0, a0, s4
  ld ra, 56(sp)
  ld s0, 48(sp)
  ld s1, 40(sp)
  ld s2, 32(sp)
  ld s3, 24(sp)
  ld s4, 16(sp)
  addi sp, sp, 64
  ret
  .size many_saved, . - many_saved

  .globl ends
  .type ends, @function
ends:
  ret
  .size ends, . - ends
