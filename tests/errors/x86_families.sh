# Every family of x86-64 intrinsics and of inline assembly in a function marked for the NxP: a coded
# error that names the function and points to it, or to the statement.
. "$FLICK_TEST_ERRORS/lib.sh"
# refused CODE BODY: in a function on the second line of a unit.
refused() {
  printf '#include <immintrin.h>\n__attribute__((annotate("flick.nxp"))) long placed(void *p, long x) { %s; return x; }\n' "$2" >unit.c
  refuses "$1" "unit.c:2:" "'placed'" -- "$cc" -O2 -mavx2 -maes -mpclmul -msse4.2 -mbmi2 -mrdrnd -mrtm -mfsgsbase -mxsave -madx -c unit.c -o unit.o
}
for body in \
  'x = (long)__builtin_ia32_rdtsc()' \
  'x = (long)__builtin_ia32_rdpmc((int)x)' \
  'x = __builtin_ia32_stmxcsr()' \
  '__builtin_ia32_ldmxcsr((unsigned)x)' \
  '__builtin_ia32_clflush(p)' \
  '__builtin_ia32_monitor(p, 0, 0)' \
  'x = __builtin_ia32_crc32qi((unsigned)x, 1)' \
  'x = (long)__builtin_ia32_pdep_di((unsigned long)x, 5)' \
  'unsigned r; x = __builtin_ia32_rdrand32_step(&r)' \
  'x = (long)__builtin_ia32_rdfsbase64()' \
  'x = (int)__builtin_ia32_xbegin()' \
  'x = __builtin_ia32_movmskpd(*(__v2df *)p)' \
  '*(__m128i *)p = (__m128i)__builtin_ia32_aesenc128(*(__v2di *)p, *(__v2di *)p)' \
  '*(__m128i *)p = (__m128i)__builtin_ia32_pshufb128(*(__v16qi *)p, *(__v16qi *)p)' \
  'x = (long)__builtin_ia32_pmovmskb256(*(__v32qi *)p)' \
  '__builtin_ia32_xsave64(p, x)'; do
  refused FLK0203 "$body"
done
for body in \
  '__asm__ volatile("cpuid" : "+a"(x) : : "rbx", "rcx", "rdx")' \
  '__asm__ volatile("lock xaddq %0, %1" : "+r"(x), "+m"(*(long *)p))' \
  '__asm__ volatile("syscall" : "=a"(x) : "0"(39) : "rcx", "r11")' \
  '__asm__ volatile("mov %%fs:0, %0" : "=r"(x))' \
  '__asm__ volatile("int3")' \
  '__asm__ volatile("mfence; cpuid" : "+a"(x) : : "rbx", "rcx", "rdx", "memory")' \
  '__asm__ volatile("lock; nop")' \
  '__asm__ volatile("rep stosb" : "+D"(p), "+c"(x) : "a"(0) : "memory")' \
  '__asm__ volatile("addq $1, %0" : "+r"(x))' \
  '__asm__ goto("" : : : : out); out:' \
  'register long at __asm__("r12") = x; __asm__ volatile("push %0; pop %0" : "+r"(at)); x = at'; do
  refused FLK0202 "$body"
done
# The time-stamp counter by its portable name, and a caller's frame.
refused FLK0212 'x = (long)__builtin_readcyclecounter()'
refused FLK0212 'x = (long)__builtin_frame_address(1)'
