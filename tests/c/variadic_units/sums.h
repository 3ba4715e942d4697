#include <flick.h>
#include <stdarg.h>

double sum_nxp(const char *kinds, ...);
double sum_both(const char *kinds, ...);
double sum_host(const char *kinds, ...);

#define SUM                                                                                        \
  {                                                                                                \
    va_list ap;                                                                                    \
    double sum = 0;                                                                                \
    va_start(ap, kinds);                                                                           \
    for (; *kinds; kinds++)                                                                        \
      sum += *kinds == 'i'   ? va_arg(ap, int)                                                     \
             : *kinds == 'd' ? va_arg(ap, double)                                                  \
                             : (double)va_arg(ap, long);                                           \
    va_end(ap);                                                                                    \
    return sum;                                                                                    \
  }
