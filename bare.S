.globl _start
_start:
  li t0, 0x10000000
  li t1, 'h'
  sb t1, (t0)
  li t1, 'i'
  sb t1, (t0)
#ifdef ECHO
wait:
  lbu t1, 5(t0)
  andi t1, t1, 1
  beqz t1, wait
  lbu t1, (t0)
  sb t1, (t0)
#endif
  li t0, 0x100000
  li t1, 0x5555
  sw t1, (t0)
