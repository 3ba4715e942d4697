// Calls that go on while the caller does other things: a thread without a stack makes each.
#include "channels.h"

// The thread's entry: a0 is the request. It stores the results, and ends with the first one.
void __card_request_run(void);
__asm__(".text\n"
        ".globl __card_request_run\n"
        "__card_request_run:\n"
        "mv s0, a0\n"
        "ld a7, 0(s0)\n"
        "ld a0, 8(s0)\n"
        "ld a1, 16(s0)\n"
        "ld a2, 24(s0)\n"
        "ld a3, 32(s0)\n"
        "ld a4, 40(s0)\n"
        "ld a5, 48(s0)\n"
        "ecall\n"
        "addi t0, s0, 56\n"
        "amoswap.d zero, a0, (t0)\n"
        "addi t0, s0, 64\n"
        "amoswap.d zero, a1, (t0)\n"
        "li a7, 17\n"
        "ecall\n");

_Static_assert(FLICK_CALL_THREAD_EXIT == 17, "the call above");
_Static_assert(offsetof(struct flick_request, results) == 56, "the offsets above");

// It does not wait for threads that compute.
#define URGENT (FLICK_NORMAL_PRIORITY - 1)

int __card_request_start(struct flick_request *request) {
  int64_t thread =
      flick_thread_create((uintptr_t)__card_request_run, (uintptr_t)request, 0, 0, URGENT);
  if (thread >= 0)
    request->thread = thread;
  return card_result(thread);
}

int flick_request_start(struct flick_request *request, uint64_t call, const uint64_t arguments[6]) {
  *request = (struct flick_request){.call = call, .begun = flick_time()};
  for (int n = 0; n < 6; n++)
    request->arguments[n] = arguments[n];
  return __card_request_start(request);
}

int64_t __card_request_end(struct flick_request *request, uint64_t until) {
  if (request->thread == 0)
    return -FLICK_EINVAL;
  int64_t joined = flick_thread_join(request->thread, until, NULL);
  if (joined < 0)
    return joined;
  request->thread = 0;
  // The thread may have run on a hart whose stores this hart's cache does not see.
  for (int n = 0; n < 2; n++)
    request->results[n] = __atomic_fetch_add(&request->results[n], 0, __ATOMIC_ACQUIRE);
  return request->results[0];
}
