#include "alias.h"

int memcmp(const void *, const void *, size_t);

int bcmp(const void *left, const void *right, size_t n) { return memcmp(left, right, n); }
NXP_ALIAS(bcmp);
