// The software of a root without a kernel. It sets three accelerators up as a chain between two
// files in a tile of memory, serves their requests, and looks at what they have made of the image.
// BUFFERS is the number of blocks in the local memory of each accelerator.
#include "root.h"
#ifndef BUFFERS
#define BUFFERS 1
#endif

enum { FFT = 1, MUL, IFFT, DRAM };
enum { BLOCK = 2048, IMAGE = 64 * BLOCK, PIECE = 16 * BLOCK, OUTPUT = 0x100000 };
static float image[IMAGE / 4], result[IMAGE / 4], filter[BLOCK / 4];

static void set_tiles_up(void) {
  set_root_up(DRAM);
  for (u64 tile = FFT; tile <= IFFT; tile++) {
    set_module_up(tile);
    if (tile == FFT)
      read_from(tile, DRAM, 0, IMAGE);
    else
      set_accelerator(tile, INPUT, PUSHED);
    if (tile == IFFT) {
      write_to(tile, DRAM, OUTPUT, IMAGE + PIECE);
    } else {
      send_to(tile, OUTPUT_REQUESTS, tile + 1, REQUESTS, ACTIVITY);
      set(tile, OUTPUT_DATA, 3 | 2 << 4, tile + 1, 0, BUFFERS * BLOCK);
    }
  }
}

void root(void) {
  for (u64 n = 0; n < IMAGE / 4; n++)
    image[n] = n * 31 % 255;
  // A filter of 2: so the chain doubles the image.
  for (u64 n = 0; n < BLOCK / 4; n += 2)
    filter[n] = 2;
  set_tiles_up();
  command(FLICK_DTU_WRITE, MEMORIES + DRAM, 0, image, IMAGE, 0);
  command(FLICK_DTU_WRITE, MEMORIES + MUL, 0, filter, BLOCK, BUFFERS * BLOCK);
  struct files files = {.input = IMAGE, .output = IMAGE + PIECE, .piece = PIECE};
  u64 began = cycles();
  for (u64 tile = FFT; tile <= IFFT; tile++)
    set_accelerator(tile, CONTROL, START);
  while (!has_request() || serve(&files))
    ;
  u64 took = cycles() - began;
  if (files.written != IMAGE)
    stop("bytes that were written: ", files.written);
  for (u64 tile = FFT; tile <= IFFT; tile++)
    while (accelerator(tile, STATUS) != ENDED)
      ;
  command(FLICK_DTU_READ, MEMORIES + DRAM, 0, result, IMAGE, OUTPUT);
  u64 wrong = 0;
  for (u64 n = 0; n < IMAGE / 4; n++) {
    float error = result[n] - 2 * image[n];
    wrong += error > 0.01f || error < -0.01f;
  }
  print("points that are wrong: ");
  number(wrong);
  print("\nrequests to the server: ");
  number(files.requests);
  // The slowest stage takes 5856 cycles a block. Without transfers the image would take 66 of them,
  // since the last stage has its first block after two. Two buffers are held against the slowest
  // stage alone.
  if (BUFFERS == 1) {
    print("\nwithin 5 % of the slowest stage: ");
    number(took < 66ul * 5856 * 105 / 100);
  } else {
    print("\nwithin 3 % of the slowest stage alone: ");
    number(took < IMAGE / BLOCK * 5856ul * 103 / 100);
  }
  print("\n");
  end(0);
}
