#include <flick.h>
#include <stdio.h>

FLICK_NXP void hello(const char *name) { /* RISC-V code, called as any function is */
  printf("hello, %s\n", name);           /* the thread goes to the host and comes back */
}

int main(void) { hello("world"); }
