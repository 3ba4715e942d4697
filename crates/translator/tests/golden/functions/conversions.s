# Conversions: no function is called for those that C asks for.
  .text

  .macro function name
  .globl \name
  .type \name, @function
\name:
  .endm
  .macro end name
  ret
  .size \name, . - \name
  .endm

  # As C's casts.
  function signed_from_doubles
  fcvt.w.d a0, fa0, rtz
  fcvt.l.d a1, fa0, rtz
  end signed_from_doubles

  function unsigned_from_doubles
  fcvt.wu.d a0, fa0, rtz
  fcvt.lu.d a1, fa0, rtz
  end unsigned_from_doubles

  function unsigned_from_singles
  fcvt.wu.s a0, fa0, rtz
  fcvt.lu.s a1, fa0, rtz
  end unsigned_from_singles

  function doubles_from_unsigned
  fcvt.d.wu fa0, a0
  fcvt.d.lu fa1, a1
  end doubles_from_unsigned

  function singles_from_unsigned
  fcvt.s.wu fa0, a0
  fcvt.s.lu fa1, a1
  end singles_from_unsigned

  # As (int)floor(x), (unsigned)ceil(x), lrint(x), lround(x).
  function rounded_down
  fcvt.w.d a0, fa0, rdn
  fcvt.w.s a1, fa1, rdn
  fcvt.l.d a2, fa2, rdn
  end rounded_down

  function rounded_up
  fcvt.wu.d a0, fa0, rup
  fcvt.lu.s a1, fa1, rup
  end rounded_up

  function rounded_as_ever
  fcvt.l.d a0, fa0
  fcvt.w.s a1, fa1
  fcvt.wu.d a2, fa2
  end rounded_as_ever

  function rounded_away
  fcvt.l.d a0, fa0, rmm
  fcvt.w.s a1, fa1, rmm
  end rounded_away

  # As clang makes floor and roundf.
  function floor
  li a0, 1075
  slli a0, a0, 52
  fmv.d.x fa5, a0
  fabs.d fa4, fa0
  flt.d a0, fa4, fa5
  beqz a0, 1f
  fcvt.l.d a0, fa0, rdn
  fcvt.d.l fa5, a0, rdn
  fsgnj.d fa0, fa5, fa0
1:
  end floor

  function roundf
  lui a0, 307200
  fmv.w.x fa5, a0
  fabs.s fa4, fa0
  flt.s a0, fa4, fa5
  beqz a0, 1f
  fcvt.w.s a0, fa0, rmm
  fcvt.s.w fa5, a0, rmm
  fsgnj.s fa0, fa5, fa0
1:
  end roundf

  function other_roundings
  fcvt.s.l fa0, a0, rup
  fcvt.d.lu fa1, a1, rdn
  fcvt.s.d fa2, fa2, rtz
  end other_roundings

  function signs_of_others
  fsgnj.d fa0, fa0, fa1
  fsgnjn.d fa1, fa1, fa2
  fsgnjx.d fa2, fa2, fa3
  fsgnj.s fa4, fa4, fa5
  end signs_of_others
