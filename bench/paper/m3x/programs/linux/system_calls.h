/* Calls of Linux for RV64, with the numbers of its asm-generic/unistd.h. */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H
#include <errno.h>
#include <stdint.h>

enum {
  LINUX_DUP = 23,
  LINUX_DUP3 = 24,
  LINUX_FCNTL = 25,
  LINUX_MKNODAT = 33,
  LINUX_MKDIRAT = 34,
  LINUX_UNLINKAT = 35,
  LINUX_SYMLINKAT = 36,
  LINUX_LINKAT = 37,
  LINUX_FTRUNCATE = 46,
  LINUX_FACCESSAT = 48,
  LINUX_CHDIR = 49,
  LINUX_FCHMOD = 52,
  LINUX_FCHMODAT = 53,
  LINUX_FCHOWNAT = 54,
  LINUX_FCHOWN = 55,
  LINUX_OPENAT = 56,
  LINUX_CLOSE = 57,
  LINUX_GETDENTS64 = 61,
  LINUX_LSEEK = 62,
  LINUX_READ = 63,
  LINUX_WRITE = 64,
  LINUX_PREAD64 = 67,
  LINUX_PWRITE64 = 68,
  LINUX_READLINKAT = 78,
  LINUX_NEWFSTATAT = 79,
  LINUX_FSTAT = 80,
  LINUX_FSYNC = 82,
  LINUX_UTIMENSAT = 88,
  LINUX_EXIT = 93,
  LINUX_EXIT_GROUP = 94,
  LINUX_FUTEX = 98,
  LINUX_NANOSLEEP = 101,
  LINUX_SCHED_YIELD = 124,
  LINUX_UMASK = 166,
  LINUX_GETPID = 172,
  LINUX_GETTID = 178,
  LINUX_MUNMAP = 215,
  LINUX_CLONE = 220,
  LINUX_MMAP = 222,
  LINUX_RENAMEAT2 = 276,
  LINUX_GETCWD = 17,
};
enum { LINUX_AT_FDCWD = -100, LINUX_AT_SYMLINK_NOFOLLOW = 0x100, LINUX_AT_REMOVEDIR = 0x200 };

static inline int64_t linux_call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d,
                                 int64_t e, int64_t f) {
  register int64_t a0 __asm__("a0") = a;
  register int64_t a1 __asm__("a1") = b;
  register int64_t a2 __asm__("a2") = c;
  register int64_t a3 __asm__("a3") = d;
  register int64_t a4 __asm__("a4") = e;
  register int64_t a5 __asm__("a5") = f;
  register int64_t a7 __asm__("a7") = number;
  __asm__ volatile("ecall"
                   : "+r"(a0)
                   : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7)
                   : "memory");
  return a0;
}

/* As POSIX says errors. Its time is that of the system (../measure.c). */
int64_t linux_file_call(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e);

#endif
