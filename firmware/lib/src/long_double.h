// Values of `long double` in formats of printf, which picolibc takes for `double`.
#pragma once
#include <stdarg.h>
#include <stdint.h>

// How many values a format has at most, or 0 if there is nothing to change.
unsigned __card_most_values(const char *format);
// The values with each `long double` as a `double`, in `slots`.
va_list __card_as_double(const char *format, va_list values, uint64_t *slots);
