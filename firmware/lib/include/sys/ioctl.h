/* No file has calls of its own: each is ENOTTY. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define TIOCGWINSZ 0x5413

struct winsize {
  unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};

int ioctl(int file, unsigned long call, ...);

#ifdef __cplusplus
}
#endif
