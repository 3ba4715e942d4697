# Floating point.
  .text

  .globl doubles
  .type doubles, @function
doubles:
  fadd.d fa0, fa0, fa1
  fmul.d fa0, fa0, fa2
  fsub.d fa0, fa0, fa3
  fdiv.d fa0, fa0, fa1
  ret
  .size doubles, . - doubles

  .globl singles
  .type singles, @function
singles:
  fadd.s fa0, fa0, fa1
  fmul.s fa0, fa0, fa2
  fsqrt.s fa0, fa0
  ret
  .size singles, . - singles

  .globl in_memory
  .type in_memory, @function
in_memory:
  fld fa5, 0(a0)
  fld fa4, 8(a0)
  fmul.d fa5, fa5, fa4
  fsd fa5, 16(a0)
  flw fa5, 24(a0)
  fsw fa5, 28(a0)
  ret
  .size in_memory, . - in_memory

  .globl comparisons
  .type comparisons, @function
comparisons:
  flt.d a0, fa0, fa1
  feq.d a1, fa0, fa2
  fle.s a2, fa3, fa4
  add a0, a0, a1
  add a0, a0, a2
  ret
  .size comparisons, . - comparisons

  .globl branch_on_comparison
  .type branch_on_comparison, @function
branch_on_comparison:
  flt.d a0, fa0, fa1
  beqz a0, 1f
  fmv.d fa0, fa1
1:
  ret
  .size branch_on_comparison, . - branch_on_comparison

  .globl to_integers
  .type to_integers, @function
to_integers:
  fcvt.l.d a0, fa0, rtz
  fcvt.w.d a1, fa1, rtz
  fcvt.wu.s a2, fa2, rtz
  add a0, a0, a1
  add a0, a0, a2
  ret
  .size to_integers, . - to_integers

  .globl from_integers
  .type from_integers, @function
from_integers:
  fcvt.d.l fa0, a0
  fcvt.d.w fa1, a1
  fcvt.s.l fa2, a2
  fcvt.d.s fa2, fa2
  fadd.d fa0, fa0, fa1
  fadd.d fa0, fa0, fa2
  ret
  .size from_integers, . - from_integers

  .globl between_sizes
  .type between_sizes, @function
between_sizes:
  fcvt.s.d fa0, fa0
  fadd.s fa0, fa0, fa0
  fcvt.d.s fa0, fa0
  ret
  .size between_sizes, . - between_sizes

  .globl signs
  .type signs, @function
signs:
  fneg.d fa0, fa0
  fabs.d fa1, fa1
  fsgnj.d fa0, fa0, fa1
  fneg.s fa2, fa2
  fcvt.d.s fa2, fa2
  fadd.d fa0, fa0, fa2
  ret
  .size signs, . - signs

  .globl bits
  .type bits, @function
bits:
  fmv.x.d a0, fa0
  fmv.d.x fa1, a1
  fmv.x.w a2, fa2
  fmv.w.x fa0, a2
  fsd fa1, 0(a3)
  ret
  .size bits, . - bits

  .globl fused_and_others
  .type fused_and_others, @function
fused_and_others:
  fmadd.d fa0, fa0, fa1, fa2
  fmin.d fa0, fa0, fa1
  fclass.d a0, fa0
  ret
  .size fused_and_others, . - fused_and_others

  .globl static_rounding
  .type static_rounding, @function
static_rounding:
  fadd.d fa0, fa0, fa1, rtz
  ret
  .size static_rounding, . - static_rounding

  .globl loop
  .type loop, @function
loop:
  fmv.d.x fa0, zero
  sh3add a1, a1, a0
1:
  fld fa5, 0(a0)
  fmul.d fa5, fa5, fa5
  fadd.d fa0, fa0, fa5
  addi a0, a0, 8
  bne a0, a1, 1b
  ret
  .size loop, . - loop

  .globl loop_of_singles
  .type loop_of_singles, @function
loop_of_singles:
  fmv.w.x fa0, zero
  sh2add a1, a1, a0
1:
  flw fa5, 0(a0)
  fmul.s fa5, fa5, fa1
  fadd.s fa0, fa0, fa5
  addi a0, a0, 4
  bne a0, a1, 1b
  ret
  .size loop_of_singles, . - loop_of_singles

  # The parameter of the loop may be what was loaded, so each sum is checked where it is made.
  .globl loop_of_sums_and_loads
  .type loop_of_sums_and_loads, @function
loop_of_sums_and_loads:
  fld fa0, 0(a0)
1:
  fld fa5, 8(a0)
  fadd.d fa0, fa0, fa5
  beqz a2, 2f
  fld fa0, 16(a0)
2:
  addi a0, a0, 8
  bne a0, a1, 1b
  ret
  .size loop_of_sums_and_loads, . - loop_of_sums_and_loads

  # Two sums of a loop are seen behind it, in a fault within it, and one where it is left early.
  .globl sums
  .type sums, @function
sums:
  fmv.d.x fa0, zero
  fcvt.d.l fa1, a2
1:
  fld fa5, 0(a0)
  fadd.d fa0, fa0, fa5
  fmul.d fa1, fa1, fa5
  beqz a3, 2f
  addi a0, a0, 8
  bne a0, a1, 1b
  fsd fa1, 0(a0)
  ret
2:
  fsd fa0, 0(a0)
  fadd.d fa0, fa0, fa1
  ret
  .size sums, . - sums
