/* The RV64 side of libriscv-crossing.cpp: null functions that the host calls, and loops that call
 * the host. It is linked with ../engine/bare.c, whose `main` ends at once. */

#define EXPORTED __attribute__((used, noinline))

static long system_call(long number, long argument) {
  register long a0 __asm__("a0") = argument;
  register long a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
  return a0;
}

EXPORTED void null_on_guest(void) { __asm__ volatile(""); }

EXPORTED void loop_with_calls(long calls) {
  for (long call = 0; call < calls; call++)
    system_call(500, 0);
}

EXPORTED void loop_alone(long calls) {
  for (long call = 0; call < calls; call++)
    __asm__ volatile("");
}

EXPORTED void level_on_guest(long further) {
  if (further > 0)
    system_call(501, further);
}

int main(void) { return 0; }
