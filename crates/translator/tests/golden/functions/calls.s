# Calls and returns.
  .text

  .globl leaf
  .type leaf, @function
leaf:
  addi a0, a0, 1
  ret
  .size leaf, . - leaf

  .globl caller
  .type caller, @function
caller:
  addi sp, sp, -16
  sd ra, 8(sp)
  call leaf
  slli a0, a0, 1
  ld ra, 8(sp)
  addi sp, sp, 16
  ret
  .size caller, . - caller

  .globl keeps
  .type keeps, @function
keeps:
  addi sp, sp, -32
  sd ra, 24(sp)
  sd s0, 16(sp)
  sd s1, 8(sp)
  mv s0, a0
  mv s1, a1
  call leaf
  add a0, a0, s0
  call leaf
  add a0, a0, s1
  ld ra, 24(sp)
  ld s0, 16(sp)
  ld s1, 8(sp)
  addi sp, sp, 32
  ret
  .size keeps, . - keeps

  .globl fibonacci
  .type fibonacci, @function
fibonacci:
  li a1, 2
  blt a0, a1, 1f
  addi sp, sp, -32
  sd ra, 24(sp)
  sd s0, 16(sp)
  sd s1, 8(sp)
  mv s0, a0
  addi a0, a0, -1
  call fibonacci
  mv s1, a0
  addi a0, s0, -2
  call fibonacci
  add a0, a0, s1
  ld ra, 24(sp)
  ld s0, 16(sp)
  ld s1, 8(sp)
  addi sp, sp, 32
1:
  ret
  .size fibonacci, . - fibonacci

  .globl tail
  .type tail, @function
tail:
  addi a0, a0, 2
  tail leaf
  .size tail, . - tail

  .globl through_pointer
  .type through_pointer, @function
through_pointer:
  addi sp, sp, -16
  sd ra, 8(sp)
  mv a2, a0
  mv a0, a1
  jalr a2
  addi a0, a0, 1
  ld ra, 8(sp)
  addi sp, sp, 16
  ret
  .size through_pointer, . - through_pointer

  .globl tail_through_pointer
  .type tail_through_pointer, @function
tail_through_pointer:
  mv a5, a1
1:
  jr a5
  .size tail_through_pointer, . - tail_through_pointer
  .section .flick.jumps, "", @progbits
  .word 0, 1
  .quad 1b
  .text

  .globl of_the_host
  .type of_the_host, @function
of_the_host:
  addi sp, sp, -16
  sd ra, 8(sp)
  call host
  addi a0, a0, 1
  ld ra, 8(sp)
  addi sp, sp, 16
  ret
  .size of_the_host, . - of_the_host

  .globl host
  .type host, @function
host:
1:
  auipc t3, %pcrel_hi(got)
  ld t3, %pcrel_lo(1b)(t3)
  jr t3
  .size host, . - host

  .globl second_link_register
  .type second_link_register, @function
second_link_register:
  jal t0, leaf
  ret
  .size second_link_register, . - second_link_register
  .section .rodata
  .balign 8
got:
  .quad 0x7fff00000000
  .text
