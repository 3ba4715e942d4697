# Integer arithmetic.
  .text

  .globl add_sub
  .type add_sub, @function
add_sub:
  add a0, a0, a1
  addi a0, a0, -5
  sub a0, a0, a2
  ret
  .size add_sub, . - add_sub

  .globl words
  .type words, @function
words:
  addw a0, a0, a1
  subw a0, a0, a2
  addiw a0, a0, 7
  ret
  .size words, . - words

  .globl words_seen_as_words
  .type words_seen_as_words, @function
words_seen_as_words:
  addw a0, a0, a1
  sllw a0, a0, a2
  sw a0, 0(a3)
  ret
  .size words_seen_as_words, . - words_seen_as_words

  .globl logic
  .type logic, @function
logic:
  and a0, a0, a1
  or a0, a0, a2
  xori a0, a0, -1
  andi a0, a0, 0xff
  ret
  .size logic, . - logic

  .globl shifts
  .type shifts, @function
shifts:
  sll a0, a0, a1
  srl a0, a0, a2
  srai a0, a0, 3
  slli a0, a0, 12
  srliw a0, a0, 4
  sraw a0, a0, a1
  ret
  .size shifts, . - shifts

  .globl comparisons
  .type comparisons, @function
comparisons:
  slt a3, a0, a1
  sltu a4, a1, a2
  sltiu a5, a0, 1
  snez a1, a1
  add a0, a3, a4
  add a0, a0, a5
  add a0, a0, a1
  ret
  .size comparisons, . - comparisons

  .globl constants
  .type constants, @function
constants:
  lui a0, 0x12345
  addiw a0, a0, 0x678
  slli a0, a0, 12
  addi a0, a0, 0x1ab
  ret
  .size constants, . - constants

  .globl products
  .type products, @function
products:
  mul a3, a0, a1
  mulh a4, a0, a1
  mulhu a5, a0, a2
  mulhsu a6, a1, a2
  mulw a7, a0, a2
  xor a0, a3, a4
  xor a0, a0, a5
  xor a0, a0, a6
  xor a0, a0, a7
  ret
  .size products, . - products

  .globl quotients
  .type quotients, @function
quotients:
  div a3, a0, a1
  rem a4, a0, a1
  divuw a5, a0, a2
  remw a6, a0, a2
  xor a0, a3, a4
  xor a0, a0, a5
  xor a0, a0, a6
  ret
  .size quotients, . - quotients
