// The least that a program without a C library needs: calls of the kernel, and printing.
typedef unsigned long u64;

// Numbers: docs/kernel-calls.md.
enum {
  HART_SELF = 1,
  CACHE_REFRESH = 2,
  THREAD_CREATE = 16,
  THREAD_EXIT = 17,
  THREAD_JOIN = 18,
  THREAD_YIELD = 20,
  THREAD_SLEEP = 21,
  MEMORY_FREE = 35,
  PROCESS_COPY = 41,
  PROCESS_START = 43,
  PROCESS_WAIT = 44,
  PROCESS_END = 45,
  CONSOLE_WRITE = 56,
  KERNEL_NOTHING = 59,
};

struct program_start {
  u64 version, arguments, text, size, tile, tiles, harts, frequency;
};

static inline u64 call(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 *second) {
  register u64 a0 __asm__("a0") = a;
  register u64 a1 __asm__("a1") = b;
  register u64 a2 __asm__("a2") = c;
  register u64 a3 __asm__("a3") = d;
  register u64 a4 __asm__("a4") = e;
  register u64 a5 __asm__("a5") = f;
  register u64 a7 __asm__("a7") = number;
  __asm__ volatile("ecall"
                   : "+r"(a0), "+r"(a1)
                   : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                   : "memory");
  if (second)
    *second = a1;
  return a0;
}

static inline u64 call1(u64 number, u64 a) { return call(number, a, 0, 0, 0, 0, 0, 0); }

static inline int is_error(u64 value) { return value > -4096ul; }

static inline u64 now(void) {
  u64 time;
  __asm__ volatile("rdtime %0" : "=r"(time));
  return time;
}

static inline u64 hart(void) { return call1(HART_SELF, 0); }

// Each tile runs the program. The others leave the console to the first one, unless the program is
// compiled for one of them alone (-DONE_TILE).
static inline void only_on_first_tile(struct program_start *start) {
#ifndef ONE_TILE
  if (start->tile != 0)
    call1(THREAD_EXIT, 0);
#else
  (void)start;
#endif
}

static inline u64 length(const char *text) {
  u64 size = 0;
  while (text[size])
    size++;
  return size;
}

static inline u64 decimal(const char *text) {
  u64 value = 0;
  while (*text >= '0' && *text <= '9')
    value = value * 10 + (*text++ - '0');
  return value;
}

static inline void write_text(const char *text) {
  call(CONSOLE_WRITE, (u64)text, length(text), 0, 0, 0, 0, 0);
}

static inline void print(const char *before, u64 value, const char *behind) {
  char digits[24];
  int at = 23;
  digits[at] = 0;
  do
    digits[--at] = '0' + value % 10;
  while (value /= 10);
  write_text(before);
  write_text(digits + at);
  write_text(behind);
}
