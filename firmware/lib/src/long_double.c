#include "long_double.h"

#include <stdbool.h>
#include <string.h>

unsigned __card_most_values(const char *format) {
  unsigned count = 0;
  bool has_long_double = false;
  for (; *format; format++) {
    // Values by their numbers stay as they are.
    if (*format == '%' && format[1 + strspn(format + 1, "0123456789")] == '$')
      return 0;
    count += *format == '%' || *format == '*';
    has_long_double |= *format == 'L';
  }
  return has_long_double ? count : 0;
}

// Behind a `%`: the letter of the conversion, which may be the format's end.
static const char *conversion(const char *at, unsigned *stars, bool *is_long_double) {
  for (; *at && strchr("-+ #0'123456789.*hljztL", *at); at++) {
    *stars += *at == '*';
    *is_long_double |= *at == 'L';
  }
  return at;
}

// By RISC-V's calling convention a va_list is the address of slots of 64 bits. A `long double` has
// two, at a multiple of 16 bytes.
va_list __card_as_double(const char *format, va_list values, uint64_t *slots) {
  uint64_t *next = slots;
  while ((format = strchr(format, '%'))) {
    unsigned stars = 0;
    bool is_long_double = false;
    format = conversion(format + 1, &stars, &is_long_double);
    while (stars--)
      *next++ = va_arg(values, uint64_t);
    if (!*format)
      break;
    if (is_long_double && strchr("aAeEfFgG", *format)) {
      double value = va_arg(values, long double);
      memcpy(next++, &value, sizeof value);
    } else if (*format != '%') {
      *next++ = va_arg(values, uint64_t);
    }
    format++;
  }
  return (va_list)slots;
}
