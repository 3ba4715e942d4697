# Loads and stores.
  .text

  .globl loads
  .type loads, @function
loads:
  lb a1, 0(a0)
  lbu a2, 1(a0)
  lh a3, 2(a0)
  lhu a4, 4(a0)
  lw a5, 8(a0)
  lwu a6, 12(a0)
  ld a7, -16(a0)
  add a0, a1, a2
  add a0, a0, a3
  add a0, a0, a4
  add a0, a0, a5
  add a0, a0, a6
  add a0, a0, a7
  ret
  .size loads, . - loads

  .globl stores
  .type stores, @function
stores:
  sb a1, 0(a0)
  sh a2, 2(a0)
  sw a3, 4(a0)
  sd a4, 8(a0)
  sd zero, 16(a0)
  li a5, 7
  sw a5, 24(a0)
  ret
  .size stores, . - stores

  .globl indexed
  .type indexed, @function
indexed:
  sh3add a1, a1, a0
  ld a2, 0(a1)
  add a2, a2, a3
  sd a2, 0(a1)
  mv a0, a2
  ret
  .size indexed, . - indexed

  .globl extended_and_stored
  .type extended_and_stored, @function
extended_and_stored:
  lw a2, 0(a0)
  addiw a2, a2, 1
  sw a2, 0(a0)
  ret
  .size extended_and_stored, . - extended_and_stored

  .globl constant
  .type constant, @function
constant:
  lla a1, 1f
  ld a0, 0(a1)
  lwu a1, 8(a1)
  add a0, a0, a1
  ret
  .size constant, . - constant
  .section .rodata
  .balign 8
1:
  .quad 0x1122334455667788
  .word 42
  .text

  .globl copy_words
  .type copy_words, @function
copy_words:
  ld a3, 0(a1)
  ld a4, 8(a1)
  sd a3, 0(a0)
  sd a4, 8(a0)
  ret
  .size copy_words, . - copy_words
