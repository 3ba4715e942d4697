// Where a library's NxP code was, the host has code for a while, and NxP code calls it; then the
// library comes back to the same place, and a call of its NxP code returns to that address.
// SKIP-MODE: static a static program cannot use dlopen here
// SKIP-VALGRIND: it keeps records of every library, which are mappings
// SKIP-RANDOM: for a call that crosses, the address to return to is in libflick, which stays
// STEP: cc -shared -fPIC plugin.c -o plugin.so
// STEP: link main.c -ldl
// OUT: called: 42 43
// OUT: back: yes, its call returns
#include <dlfcn.h>
#include <flick.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef void *function(void);

static void *library;

static void *(*after(void))(function *) {
  library = dlopen("./plugin.so", RTLD_NOW);
  return (void *(*)(function *))dlsym(library, "after");
}
static char *place(void) { return after()((function *)dlsym(library, "where")); }

static void *nothing(void) { return NULL; }
FLICK_NXP __attribute__((noinline)) static int call(int (*f)(void)) { return f(); }

int main(void) {
  const char code[] = "\xb8\x2a\0\0\0\xc3"; // mov $42, %eax; ret
  char *at = place();
  dlclose(library);
  char *page = (char *)((uintptr_t)at & -4096UL);
  int fixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  if (mmap(page, 8192, PROT_READ | PROT_WRITE, fixed, -1, 0) != page)
    return 1;
  memcpy(at, code, sizeof code);
  mprotect(page, 8192, PROT_READ | PROT_EXEC);
  int first = call((int (*)(void))at);
  printf("called: %d %d\n", first, call((int (*)(void))at) + 1);
  munmap(page, 8192);
  int same = place() == at;
  printf("back: %s, its call %s\n", same ? "yes" : "no",
         after()(nothing) ? "does not return" : "returns");
}
