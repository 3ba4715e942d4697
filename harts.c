#include <flick/card.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int64_t result = flick_thread_place(flick_thread_self(), 1 << 2);
  if (result >= 0)
    printf("on hart %d\n", (int)flick_hart_self());
  result = flick_thread_place(flick_thread_self(), 0);
  printf("on no hart: %s\n", strerror(flick_errno(result)));
  return 0;
}
