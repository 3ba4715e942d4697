// Gives the line that comes from the console to the accelerator of tile 1, as a file, and prints
// what it makes of it.
#include "root.h"

enum { ACCELERATOR = 1, MOST = 1 << 16 };
static char input[MOST], output[MOST];

static u64 read_line(void) {
  u64 size = 0;
  while (size < MOST && (!size || input[size - 1] != '\n')) {
    while (!(((volatile char *)0x10000000)[5] & 1))
      ;
    input[size++] = *(volatile char *)0x10000000;
  }
  return size;
}

void root(void) {
  struct files files = {.input = read_line(), .output = MOST, .piece = 4096};
  set_root_up(ACCELERATOR);
  set_module_up(ACCELERATOR);
  read_from(ACCELERATOR, 0, (u64)input, files.input);
  write_to(ACCELERATOR, 0, (u64)output, MOST);
  u64 began = cycles();
  set_accelerator(ACCELERATOR, CONTROL, START);
  while (!has_request() || serve(&files))
    if (accelerator(ACCELERATOR, STATUS) == FAILED)
      stop("the accelerator has failed, with FAULT ", accelerator(ACCELERATOR, FAULT));
  u64 took = cycles() - began;
  for (u64 n = 0; n < files.written; n++)
    *(volatile char *)0x10000000 = output[n];
  number(accelerator(ACCELERATOR, BLOCKS));
  print(" blocks, ");
  number(took);
  print(" cycles\n");
  end(0);
}
