// Leaves of a library that dlopen brings in and dlclose takes away, several times: called by
// pointer from the host and from NxP code, in threads, in a child of fork, and by the library's own
// constructor and destructor. A leaf faults, and the handler leaves.
// OUT: 42 1 1 1 1
// OUT: 42 1 1 1 1
// OUT: 42 1 1 1 1
// CROSSINGS: host-to-nxp>=10
// SKIP-MODE: static a static program cannot use dlopen here
// SKIP-VALGRIND: memcheck reports the bad access that is the subject
// LIBS: -ldl -lpthread
// STEP: cc -shared -fPIC leaves.c -o leaves.so
// STEP: link main.c
#include <dlfcn.h>
#include <flick.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long leaf(const long *, long);

int closed;
static sigjmp_buf out;
static void on_fault(int signal) { siglongjmp(out, signal); }

FLICK_NXP __attribute__((noinline)) static long through(leaf *f, const long *p) {
  return f(p, 0) + f(p, 1);
}

static const long numbers[2] = {40, 2};

static void *often(void *f) {
  long sum = 0;
  for (int i = 0; i < 10000; i++)
    sum += ((leaf *)f)(numbers, i & 1);
  return sum == 42 * 5000 ? f : NULL;
}

static int in_threads(leaf *f) {
  pthread_t threads[3];
  int good = 0;
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, often, (void *)f);
  for (int i = 0; i < 3; i++) {
    void *result;
    pthread_join(threads[i], &result);
    good += result == (void *)f;
  }
  return good == 3;
}

static int in_child(leaf *f) {
  pid_t child = fork();
  if (child == 0)
    _exit((int)f(numbers, 0));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 40;
}

static int faults(leaf *f) {
  if (sigsetjmp(out, 1) == 0)
    return f(NULL, 1) != 0 && 0;
  return f(numbers, 1) == 2;
}

int main(void) {
  signal(SIGSEGV, on_fault);
  for (int i = 0; i < 3; i++) {
    void *library = dlopen("./leaves.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      printf("%s\n", dlerror());
      return 1;
    }
    leaf *f = (leaf *)dlsym(library, "element");
    int **is_closed = dlsym(library, "is_closed");
    *is_closed = &closed;
    closed = 0;
    long sum = through(f, numbers);
    int good = in_threads(f), child = in_child(f), left = faults(f);
    dlclose(library);
    printf("%ld %d %d %d %d\n", sum, good, child, left, closed);
  }
}
