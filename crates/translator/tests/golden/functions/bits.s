# Zba, Zbb, Zbs and Zicond.
  .text

  .globl addresses
  .type addresses, @function
addresses:
  sh1add a0, a0, a1
  sh2add.uw a0, a0, a1
  sh3add a0, a0, a2
  add.uw a0, a0, a3
  slli.uw a0, a0, 4
  ret
  .size addresses, . - addresses

  .globl counts
  .type counts, @function
counts:
  clz a3, a0
  ctz a4, a0
  cpop a5, a0
  clzw a6, a0
  ctzw a7, a0
  cpopw a0, a0
  add a3, a3, a4
  add a5, a5, a6
  add a0, a0, a7
  add a0, a0, a3
  add a0, a0, a5
  ret
  .size counts, . - counts

  .globl least_and_most
  .type least_and_most, @function
least_and_most:
  min a0, a0, a1
  maxu a0, a0, a2
  ret
  .size least_and_most, . - least_and_most

  .globl extensions
  .type extensions, @function
extensions:
  sext.b a3, a0
  sext.h a4, a0
  zext.h a5, a0
  zext.w a6, a0
  xor a0, a3, a4
  xor a0, a0, a5
  xor a0, a0, a6
  ret
  .size extensions, . - extensions

  .globl negated
  .type negated, @function
negated:
  andn a0, a0, a1
  orn a0, a0, a2
  xnor a0, a0, a3
  ret
  .size negated, . - negated

  .globl rotations
  .type rotations, @function
rotations:
  rol a0, a0, a1
  rori a0, a0, 9
  rorw a0, a0, a2
  roriw a0, a0, 5
  ret
  .size rotations, . - rotations

  .globl bytes
  .type bytes, @function
bytes:
  rev8 a3, a0
  orc.b a4, a0
  xor a0, a3, a4
  ret
  .size bytes, . - bytes

  .globl single_bits
  .type single_bits, @function
single_bits:
  bset a3, a0, a1
  bclri a4, a0, 40
  bext a5, a0, a1
  binvi a6, a0, 2
  xor a0, a3, a4
  xor a0, a0, a5
  xor a0, a0, a6
  ret
  .size single_bits, . - single_bits

  .globl choice
  .type choice, @function
choice:
  czero.eqz a3, a0, a2
  czero.nez a4, a1, a2
  or a0, a3, a4
  ret
  .size choice, . - choice

# The lower bits, by one mask; a zero extension that an operation on 32 bits makes.
  .globl masks
  .type masks, @function
masks:
  addw a1, a0, a1
  slli a1, a1, 51
  srli a1, a1, 51
  addiw a0, a0, -1
  add.uw a0, a0, a1
  ret
  .size masks, . - masks
