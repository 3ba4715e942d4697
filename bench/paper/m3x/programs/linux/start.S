# The first instructions of a program under Linux: the card's follow (firmware/lib/src/crt.S).
  .section .text.linux_start, "ax"
  .globl linux_start
linux_start:
  mv a0, sp
  j _start

# int64_t linux_clone(uint64_t flags, void *stack, uint32_t *parent, uint64_t tls, uint32_t *child,
#                     uint64_t entry): the new thread begins at `entry` with its stack in a0.
  .section .text.linux_clone, "ax"
  .globl linux_clone
linux_clone:
  li a7, 220
  mv t0, a5
  mv t1, a1
  ecall
  beqz a0, 1f
  ret
1:
  mv a0, t1
  jr t0
  .section .note.GNU-stack, "", @progbits
