/* From the reset of a cluster to its first thread: what the counter of cycles has at the program's
 * first instruction. It is built with `-Wl,--entry=begin`: nothing of the library is in it, since
 * the kernel loads a longer program for longer. Each cluster runs it, and the first one prints.
 *
 * prints comma-separated values: cycles. */
#include <flick/card.h>

static char text[32] = "cycles\n";

void begin(const struct flick_program_start *start) {
  uint64_t value;
  __asm__ volatile("rdcycle %0" : "=r"(value));
  if (start->tile != 0)
    flick_thread_exit(0);
  char *end = text + sizeof text, *digit = end;
  *--digit = '\n';
  do
    *--digit = '0' + value % 10;
  while (value /= 10);
  flick_console_write((uint64_t)text, 7);
  flick_console_write((uint64_t)digit, end - digit);
  flick_thread_exit(0);
}

/* Not reached: what the library's start refers to. */
int main(void) { return 0; }
