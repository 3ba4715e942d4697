/* Directories; picolibc leaves this header to the system. */
#pragma once
#include <sys/types.h>

#define MAXNAMLEN 255

struct dirent {
  ino_t d_ino;
  unsigned char d_type;
  char d_name[MAXNAMLEN + 1];
};

enum {
  DT_UNKNOWN = 0,
  DT_FIFO = 1,
  DT_CHR = 2,
  DT_DIR = 4,
  DT_BLK = 6,
  DT_REG = 8,
  DT_LNK = 10,
  DT_SOCK = 12
};

typedef struct __card_directory DIR;
