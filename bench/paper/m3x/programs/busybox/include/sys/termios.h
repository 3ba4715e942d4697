/* Of termios.h, which picolibc leaves to the system. */
#pragma once
typedef unsigned char cc_t;
typedef unsigned speed_t;
typedef unsigned tcflag_t;
struct termios {
  tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
  cc_t c_cc[32];
};
enum {
  TCSANOW = 0,
  ECHO = 8,
  ICANON = 2,
  ISIG = 1,
  ECHONL = 64,
  IXOFF = 4096,
  BRKINT = 2,
  INLCR = 64,
  ICRNL = 256,
  ONLCR = 4,
  IXON = 1024,
  OPOST = 1,
  VMIN = 6,
  VTIME = 5,
  IUTF8 = 16384
};
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);
