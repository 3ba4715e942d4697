// dlsym(RTLD_NEXT) and dlopen are relative to the module that calls: a chain of libraries that wrap
// one function, each with its wrapper on the NxP, and libraries beside a library that opens them.
// SKIP-MODE: static a static program has no shared library
// STEP: host-cc -shared -fPIC base.c -o libbase.so
// STEP: cc -shared middle.c -o libmiddle.so -ldl
// STEP: cc -shared front.c -o libfront.so -ldl
// STEP: mkdir parts
// STEP: host-cc -shared -fPIC part.c -o parts/libpart.so
// STEP: cc -shared opener.c -o libopener.so -ldl -Wl,-rpath,$ORIGIN/parts
// STEP: link main.c -Wl,--no-as-needed -L. -lfront -lmiddle -lbase -lopener -ldl -Wl,-rpath,$ORIGIN
// OUT: program(front(middle(base 1)))
// OUT: front(middle(base 2))
// OUT: part 7
// SKIP-ASAN: the sanitizer calls dlopen for the program, and the run path is the caller's
#define _GNU_SOURCE
#include <dlfcn.h>
#include <flick.h>
#include <stdio.h>
#include <string.h>

int opened(int x);

// In front of the libraries' functions of this name.
FLICK_NXP char *wrapped(char *to, int x) {
  static char *(*next)(char *, int);
  if (!next) {
    void *found = dlsym(RTLD_NEXT, "wrapped");
    memcpy(&next, &found, sizeof next);
  }
  to = next(stpcpy(to, "program("), x);
  return stpcpy(to, ")");
}

FLICK_NXP static char *next_by_pointer(void *(*find)(void *, const char *), char *to, int x) {
  void *found = find(RTLD_NEXT, "wrapped");
  char *(*next)(char *, int);
  memcpy(&next, &found, sizeof next);
  return next(to, x);
}

int main(void) {
  char text[100];
  wrapped(text, 1);
  puts(text);
  next_by_pointer(dlsym, text, 2);
  puts(text);
  printf("part %d\n", opened(7));
}
