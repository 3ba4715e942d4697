# What is left to the interpreter, and entries behind it.
  .text

  .globl rounding_mode
  .type rounding_mode, @function
rounding_mode:
  frrm a0
  .globl rounding_mode_behind
rounding_mode_behind:
  addi a0, a0, 1
  ret
  .size rounding_mode, . - rounding_mode

  .globl code_made_at_run_time
  .type code_made_at_run_time, @function
code_made_at_run_time:
  sw a0, 0(a1)
  fence.i
  jr a1
  .size code_made_at_run_time, . - code_made_at_run_time

  .globl system_call
  .type system_call, @function
system_call:
  ecall
  .globl system_call_behind
system_call_behind:
  ret
  .size system_call, . - system_call

  .globl breakpoint
  .type breakpoint, @function
breakpoint:
  ebreak
  .size breakpoint, . - breakpoint

  .globl illegal
  .type illegal, @function
illegal:
  unimp
  .size illegal, . - illegal

  .globl loop_entered_in_the_middle
  .type loop_entered_in_the_middle, @function
loop_entered_in_the_middle:
  li a2, 0
1:
  add a2, a2, a1
  .globl middle
middle:
  addi a0, a0, -1
  bnez a0, 1b
  mv a0, a2
  ret
  .size loop_entered_in_the_middle, . - loop_entered_in_the_middle
