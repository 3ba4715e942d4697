#pragma once
#ifdef __cplusplus
extern "C" {
#endif
long kernel_sum(const long *values, int n);
int steps_to_one(long n);
const char *plain_compiler(void);
int plain_marked(int x);
#ifdef __cplusplus
}
#endif
