# Atomics and fences.
  .text

  .globl read_modify_write
  .type read_modify_write, @function
read_modify_write:
  amoadd.w a0, a1, (a2)
  amoswap.d.aqrl a3, a1, (a2)
  amoadd.d zero, a1, (a2)
  add a0, a0, a3
  ret
  .size read_modify_write, . - read_modify_write

  .globl in_a_loop
  .type in_a_loop, @function
in_a_loop:
  amomax.w a0, a1, (a2)
  amoand.d a3, a1, (a2)
  add a0, a0, a3
  ret
  .size in_a_loop, . - in_a_loop

  .globl reserved
  .type reserved, @function
reserved:
1:
  lr.w.aq a3, (a0)
  bne a3, a1, 2f
  sc.w.rl a4, a2, (a0)
  bnez a4, 1b
2:
  mv a0, a3
  ret
  .size reserved, . - reserved

  .globl fences
  .type fences, @function
fences:
  sd a1, 0(a0)
  fence rw, rw
  ld a0, 8(a0)
  fence r, rw
  pause
  ret
  .size fences, . - fences
