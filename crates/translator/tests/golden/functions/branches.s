# Branches that leave no loop.
  .text

  .globl larger
  .type larger, @function
larger:
  bge a0, a1, 1f
  mv a0, a1
1:
  ret
  .size larger, . - larger

  .globl absolute
  .type absolute, @function
absolute:
  bgez a0, 1f
  neg a0, a0
1:
  ret
  .size absolute, . - absolute

  .globl one_operation
  .type one_operation, @function
one_operation:
  beqz a1, 1f
  addi a0, a0, 3
1:
  ret
  .size one_operation, . - one_operation

  .globl either
  .type either, @function
either:
  beq a0, a1, 1f
  li a0, 10
  ret
1:
  li a0, 20
  ret
  .size either, . - either

  .globl chain
  .type chain, @function
chain:
  li a5, 5
  bltu a0, a5, 1f
  li a5, 50
  blt a0, a5, 2f
  li a0, 2
  ret
1:
  li a0, 0
  ret
2:
  li a0, 1
  ret
  .size chain, . - chain

  .globl words
  .type words, @function
words:
  sext.w a0, a0
  sext.w a1, a1
  bne a0, a1, 1f
  li a0, -1
1:
  ret
  .size words, . - words

  .globl joined
  .type joined, @function
joined:
  beqz a0, 1f
  ld a2, 0(a1)
  j 2f
1:
  ld a2, 8(a1)
2:
  add a0, a2, a2
  ret
  .size joined, . - joined

# Branches on bits; the value is not made. The second is seen later.
  .globl on_bits
  .type on_bits, @function
on_bits:
  andi a5, a0, 6
  bnez a5, 1f
  bexti a5, a0, 20
  beqz a5, 1f
  andi a5, a0, -2
  bnez a5, 2f
1:
  li a0, 3
  ret
2:
  andi a5, a0, 8
  beqz a5, 1b
  mv a0, a5
  ret
  .size on_bits, . - on_bits
