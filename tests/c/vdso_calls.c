// Functions of the kernel's vDSO, by way of the C library and by their own addresses, which NxP
// code looks up in the ELF image that the kernel maps: clock_gettime, gettimeofday, time, getcpu.
// OUT: library 1 1 1 1
// OUT: direct 1 1 1 1
#define _GNU_SOURCE
#include <elf.h>
#include <flick.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

FLICK_NXP static void *look_up(const char *name) {
  const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
  if (!base)
    return NULL;
  const Elf64_Ehdr *e = (const Elf64_Ehdr *)base;
  const Elf64_Phdr *p = (const Elf64_Phdr *)(base + e->e_phoff);
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  const uint32_t *hash = NULL;
  uint64_t bias = 0;
  for (int i = 0; i < e->e_phnum; i++)
    if (p[i].p_type == PT_LOAD && p[i].p_offset == 0)
      bias = (uint64_t)base - p[i].p_vaddr;
  for (int i = 0; i < e->e_phnum; i++)
    if (p[i].p_type == PT_DYNAMIC)
      for (const Elf64_Dyn *d = (const Elf64_Dyn *)(base + p[i].p_offset); d->d_tag; d++)
        switch (d->d_tag) {
        case DT_SYMTAB:
          symbols = (const Elf64_Sym *)(bias + d->d_un.d_ptr);
          break;
        case DT_STRTAB:
          names = (const char *)(bias + d->d_un.d_ptr);
          break;
        case DT_HASH:
          hash = (const uint32_t *)(bias + d->d_un.d_ptr);
        }
  // The names stand behind the symbols where there is no hash table to count them.
  size_t count = hash ? hash[1] : (size_t)(names - (const char *)symbols) / sizeof *symbols;
  for (size_t i = 0; i < count; i++)
    if (symbols[i].st_shndx && !strcmp(names + symbols[i].st_name, name))
      return (void *)(bias + symbols[i].st_value);
  return NULL;
}
static inline long long nanoseconds(struct timespec t) {
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

FLICK_NXP static int library(int which) {
  struct timespec a, b, c;
  struct timeval v;
  unsigned cpu = 0, node = 0;
  switch (which) {
  case 0:
    return !clock_gettime(CLOCK_MONOTONIC, &a) && !clock_gettime(CLOCK_MONOTONIC, &b) &&
           !clock_getres(CLOCK_MONOTONIC, &c) && nanoseconds(b) >= nanoseconds(a) &&
           nanoseconds(c) > 0;
  case 1:
    return !gettimeofday(&v, NULL) && !clock_gettime(CLOCK_REALTIME, &a) &&
           a.tv_sec - v.tv_sec <= 1;
  case 2:
    return time(NULL) - time(NULL) <= 0;
  default:
    return sched_getcpu() >= 0 && getcpu(&cpu, &node) == 0 && cpu < 65536;
  }
}
FLICK_NXP static int direct(int which) {
  int (*clock)(clockid_t, struct timespec *) = look_up("__vdso_clock_gettime");
  int (*day)(struct timeval *, void *) = look_up("__vdso_gettimeofday");
  time_t (*seconds)(time_t *) = look_up("__vdso_time");
  long (*cpu)(unsigned *, unsigned *, void *) = look_up("__vdso_getcpu");
  struct timespec a = {0, 0}, b;
  struct timeval v;
  unsigned number = 1 << 20;
  if (!getauxval(AT_SYSINFO_EHDR)) // valgrind hides it
    return 1;
  switch (which) {
  case 0:
    clock_gettime(CLOCK_MONOTONIC, &a);
    return clock(CLOCK_MONOTONIC, &b) == 0 && nanoseconds(b) >= nanoseconds(a);
  case 1:
    return day(&v, NULL) == 0 && v.tv_sec > 1600000000;
  case 2:
    return seconds(NULL) > 1600000000;
  default:
    return cpu(&number, NULL, NULL) == 0 && number < 65536;
  }
}

int main(void) {
  printf("library %d %d %d %d\n", library(0), library(1), library(2), library(3));
  printf("direct %d %d %d %d\n", direct(0), direct(1), direct(2), direct(3));
}
