// The host calls NxP functions through pointers: a parameter, a static table, a struct member, a
// pointer returned by NxP code.
// OUT: 17 16 103 1
// OUT: 7 -2 97 1
// OUT: 60 63 300 1
#include <flick.h>
#include <stdio.h>

typedef int binary(int, int);

FLICK_NXP static int add(int a, int b) { return a + b; }
FLICK_NXP static int sub(int a, int b) { return a - b; }
FLICK_NXP static int mul(int a, int b) { return a * b; }
FLICK_NXP static binary *choose(char op) { return op == '+' ? add : op == '-' ? sub : mul; }

static binary *const table[] = {add, sub, mul};
static struct {
  char name;
  binary *f;
} ops[] = {{'+', add}, {'-', sub}, {'*', mul}};

static int call(binary *f, int a, int b) { return f(a, b); }

int main(void) {
  for (int i = 0; i < 3; i++) {
    binary *volatile f = choose(ops[i].name);
    printf("%d %d %d %d\n", call(table[i], 12, 5), ops[i].f(7, 9), f(100, 3), f == table[i]);
  }
}
