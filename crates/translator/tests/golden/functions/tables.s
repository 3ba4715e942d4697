# Jumps by tables: what the compiler has said in .flick.jumps (docs/objects.md), and what nobody has.
  .text

# Which registers are read where it leads nobody knows.
  .globl distances
  .type distances, @function
distances:
  li a1, 3
  bltu a1, a0, 9f
  lla a1, 8f
  sh2add a0, a0, a1
  lw a0, 0(a0)
  add a0, a0, a1
  jr a0
1:
  li a0, 11
  ret
2:
  li a0, 22
  ret
3:
  li a0, 33
  ret
9:
  li a0, 0
  ret
  .size distances, . - distances
  .section .rodata
  .balign 8
8:
  .word 1b - 8b
  .word 2b - 8b
  .word 1b - 8b
  .word 3b - 8b
  .text

  .globl distances_known
  .type distances_known, @function
distances_known:
  li a1, 3
  bltu a1, a0, 9f
  lla a1, 8f
  sh2add a0, a0, a1
  lw a0, 0(a0)
  add a0, a0, a1
7:
  jr a0
1:
  li a0, 11
  ret
2:
  li a0, 22
  ret
3:
  li a0, 33
  ret
9:
  li a0, 0
  ret
  .size distances_known, . - distances_known
  .section .rodata
  .balign 8
8:
  .word 1b - 8b
  .word 2b - 8b
  .word 1b - 8b
  .word 3b - 8b
  .section .flick.jumps, "", @progbits
  .word 3, 1
  .quad 1b, 2b, 3b, 7b
  .text

# Labels that are data: the address decides. a3 is read at one of them, a4 at none.
  .globl threaded
  .type threaded, @function
threaded:
  li a2, 0
  li a3, 5
  li a4, 6
  ld a5, 0(a0)
6:
  jr a5
1:
  add a2, a2, a3
  addi a0, a0, 8
  ld a5, 0(a0)
7:
  jr a5
2:
  mv a0, a2
  ret
  .size threaded, . - threaded
  .section .flick.jumps, "", @progbits
  .word 2, 2
  .quad 1b, 2b, 6b, 7b
  .text

# The same without a word of the compiler: every register may be read.
  .globl threaded_unknown
  .type threaded_unknown, @function
threaded_unknown:
  li a2, 0
  li a3, 5
  li a4, 6
  ld a5, 0(a0)
  jr a5
  .globl threaded_unknown_label
threaded_unknown_label:
  add a2, a2, a3
  addi a0, a0, 8
  ld a5, 0(a0)
  jr a5
2:
  mv a0, a2
  ret
  .size threaded_unknown, . - threaded_unknown
