#pragma once
#include <stdint.h>
struct in_addr {
  uint32_t s_addr;
};
struct sockaddr_in {
  unsigned short sin_family, sin_port;
  struct in_addr sin_addr;
};
