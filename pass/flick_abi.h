// Made from crates/abi by `cargo run -p flick-abi --example c-header`.
#pragma once

#define FLICK_ABI_VERSION 65541
#define FLICK_NXP_MARCH "rv64imafdc_zicsr_zifencei_zba_zbb_zbs"
#define FLICK_FAT_MAGIC "FLKNXP1"
#define FLICK_FAT_HEADER_SIZE 32
#define FLICK_JUMP_TARGET_SIZE 224
#define FLICK_GATE_NXP 1
#define FLICK_GATE_BOTH 2
#define FLICK_GATE_PLAIN 4
#define FLICK_GATE_VARIADIC 8
#define FLICK_ARITY_HIDDEN 1
#define FLICK_ARITY_CALLS_HIDDEN 2
#define FLICK_TIMED_VERSION 2
#define FLICK_TIMED_MAP_SHIFT 21
#define FLICK_TIMED_RETURNS 0
#define FLICK_TIMED_CALLS 1
#define FLICK_TIMED_GROWS 2
#define FLICK_TIMED_LEAVES 4
#define FLICK_SEC_NXP ".flick.nxp"
#define FLICK_SEC_PLACE ".flick.place"
#define FLICK_SEC_UNITS "flick_units"
#define FLICK_SEC_GATES "flick_gates"
#define FLICK_SEC_NXP_DATA "flick_nxp_data"
#define FLICK_SEC_ARITY ".flick.arity"
#define FLICK_SEC_JUMPS ".flick.jumps"
#define FLICK_SEC_NOTE ".note.flick"
#define FLICK_LINK_GUARD "flick_object__link_it_with_flick_cc__see_flick_explain_FLK0301"
#define FLICK_NXP_PREFIX "__flick_nxp_"
#define FLICK_CALL_PREFIX "__flick_call_"
#define FLICK_TWIN_PREFIX "__flick_twin_"
#define FLICK_TLS_PREFIX "__flick_tls_"
#define FLICK_STUB_PREFIX "__flick_stub_"
#define FLICK_RT_LAZY "__flick_lazy"
#define FLICK_RT_XCALL "__flick_xcall"
#define FLICK_RT_SETJMP "__flick_setjmp"
#define FLICK_RT_CHECK "__flick_check"
#define FLICK_RT_HEAP_PREFIX "__flick_heap_"
#define FLICK_TIMED_CLOCK "__flick_timed_clock"
#define FLICK_TIMED_MAP "__flick_timed_map"
#define FLICK_TIMED_UNIT "__flick_timed_unit"
#define FLICK_TIMED_FULL "__flick_timed_full"
#define FLICK_TIMED_ACCESS "__flick_timed_access"
#define FLICK_TIMED_MEMORY "__flick_timed_memory"
#define FLICK_TIMED_LIBRARY "__flick_timed_library"
#define FLICK_NXP_LIBRARY \
  "__ashlti3", \
  "__ashrti3", \
  "__bswapdi2", \
  "__bswapsi2", \
  "__clzdi2", \
  "__clzti2", \
  "__ctzdi2", \
  "__ctzti2", \
  "__divmodti4", \
  "__divti3", \
  "__extendhfsf2", \
  "__fixdfti", \
  "__fixsfti", \
  "__fixunsdfti", \
  "__fixunssfti", \
  "__floattidf", \
  "__floattisf", \
  "__floatuntidf", \
  "__floatuntisf", \
  "__lshrti3", \
  "__modti3", \
  "__muloti4", \
  "__multi3", \
  "__popcountdi2", \
  "__popcountti2", \
  "__powidf2", \
  "__powisf2", \
  "__truncdfbf2", \
  "__truncdfhf2", \
  "__truncsfbf2", \
  "__truncsfhf2", \
  "__udivmodti4", \
  "__udivti3", \
  "__umodti3", \
  "bcmp", \
  "ceil", \
  "ceilf", \
  "floor", \
  "floorf", \
  "memcmp", \
  "memcpy", \
  "memmove", \
  "memset", \
  "nearbyint", \
  "nearbyintf", \
  "rint", \
  "rintf", \
  "round", \
  "roundeven", \
  "roundevenf", \
  "roundf", \
  "strlen", \
  "trunc", \
  "truncf"
