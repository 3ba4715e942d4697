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
