# The first instructions of a program: a0 has its record (struct flick_program_start).
  .section .text._start, "ax"
  .globl _start
  .type _start, @function
_start:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  # No caller: backtraces end here.
  li fp, 0
  li ra, 0
  j __card_start
  .size _start, . - _start
  .section .note.GNU-stack, "", @progbits

  # The first instructions of a further thread: a0 and tp are the library's.
  .section .text.__card_thread_entry, "ax"
  .globl __card_thread_entry
  .type __card_thread_entry, @function
__card_thread_entry:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  li fp, 0
  li ra, 0
  j __card_thread_begin
  .size __card_thread_entry, . - __card_thread_entry
