# Loops.
  .text

  .globl sum
  .type sum, @function
sum:
  li a2, 0
  blez a1, 2f
  sh2add a1, a1, a0
1:
  lw a3, 0(a0)
  addi a0, a0, 4
  add a2, a2, a3
  bne a0, a1, 1b
2:
  mv a0, a2
  ret
  .size sum, . - sum

  .globl length
  .type length, @function
length:
  mv a1, a0
1:
  lbu a2, 0(a1)
  addi a1, a1, 1
  bnez a2, 1b
  sub a0, a1, a0
  addi a0, a0, -1
  ret
  .size length, . - length

  .globl nested
  .type nested, @function
nested:
  li a3, 0
  beqz a0, 3f
1:
  mv a4, a1
  beqz a1, 2f
4:
  add a3, a3, a4
  addi a4, a4, -1
  bnez a4, 4b
2:
  addi a0, a0, -1
  bnez a0, 1b
3:
  mv a0, a3
  ret
  .size nested, . - nested

  .globl left_in_the_middle
  .type left_in_the_middle, @function
left_in_the_middle:
1:
  ld a2, 0(a0)
  beq a2, a1, 2f
  ld a0, 8(a0)
  bnez a0, 1b
2:
  ret
  .size left_in_the_middle, . - left_in_the_middle

  .globl endless
  .type endless, @function
endless:
1:
  addi a0, a0, 1
  j 1b
  .size endless, . - endless

# More registers are alive around the loop than the host has, and it makes a call, so what callees
# keep in the hart stays there. s10 and s11 are alike where two ways meet, and still stay there.
  .globl crowded
  .type crowded, @function
crowded:
  lbu a0, 0(s5)
  addi s5, s5, 1
  beqz a0, 3f
  andi a1, a0, 1
  beqz a1, 1f
  addi s10, s9, 4
  mv s11, s10
  j 2f
1:
  addi s10, s8, 4
  mv s11, s10
2:
  addi s4, s4, 1
  add s0, s0, s1
  add s2, s2, s3
  add s6, s6, s7
  add a2, a2, a3
  add a4, a4, a5
  add s9, s9, s11
  add s8, s8, s10
  j crowded
3:
  sd a2, 0(s4)
  sd a4, 8(s4)
  call sum
  ld a2, 0(s4)
  ld a3, 8(s4)
  mv a4, s0
  mv a5, s6
  bnez a0, crowded
  add a0, s10, s11
  add a0, a0, s2
  ret
  .size crowded, . - crowded

# An interpreter: s0 to s3 stay in their host registers, and the other saved registers in the hart. An access of
# either changes them in place, and what was read before a write is kept.
  .globl interpreter
  .type interpreter, @function
interpreter:
  lbu a0, 0(s0)
  mv a1, s0
  addi s0, s0, 1
  li a2, 7
  bltu a2, a0, 8f
  lla a2, 9f
  sh2add a0, a0, a2
  lw a0, 0(a0)
  add a0, a0, a2
7:
  jr a0
1:
  add s1, s1, s2
  j interpreter
2:
  addi s4, s4, 3
  j interpreter
3:
  lw s3, 4(s5)
  j interpreter
4:
  sub s2, s1, s2
  sd s2, 0(s6)
  j interpreter
5:
  mv a0, s4
  call sum
  add s7, s7, a0
  j interpreter
6:
  lbu s8, 0(a1)
  add s1, s8, s1
  j interpreter
10:
  add s9, s9, s3
  j interpreter
8:
  add a0, s1, s7
  ret
  .size interpreter, . - interpreter
  .section .rodata
  .p2align 2
9:
  .word 1b - 9b, 2b - 9b, 3b - 9b, 4b - 9b, 5b - 9b, 6b - 9b, 10b - 9b, 8b - 9b
  .section .flick.jumps, "", @progbits
  .word 8, 1
  .quad 1b, 2b, 3b, 4b, 5b, 6b, 10b, 8b, 7b
  .text

# On the way out of the inner loop a register is moved, which stands outside of it.
  .globl rows
  .type rows, @function
rows:
  li a3, 0
  j 2f
1:
  mul a3, a3, a4
  xor a3, a3, a5
  addi a2, a2, -1
  beqz a2, 4f
2:
  mv a5, a0
3:
  lw a6, 0(a5)
  addi a5, a5, 4
  mv a4, a5
  beq a5, a1, 1b
  addi a4, a6, 7
  beqz a6, 1b
  sw a4, 0(a5)
  j 3b
4:
  mv a0, a3
  ret
  .size rows, . - rows
