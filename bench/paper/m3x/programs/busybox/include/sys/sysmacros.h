#pragma once
#define major(d) ((unsigned)((d) >> 8) & 0xfff)
#define minor(d) ((unsigned)(d) & 0xff)
#define makedev(a, b) ((dev_t)(a) << 8 | (b))
