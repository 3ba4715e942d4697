// Every optimisation level, code model and kind of output.
// RUN: for o in 0 1 2 3 s z g; do %flick -O$o -c %s -o %t.o && %links %t.o || exit 1; done
// RUN: for f in -fPIC -fno-pie -fPIE -fcf-protection -fstack-protector-all -fno-plt -masm=intel -ffunction-sections -fdata-sections -march=x86-64-v3 -fstack-clash-protection -pg -fno-asynchronous-unwind-tables -ftrapv -fwrapv -ffast-math -fno-builtin -ffreestanding -mcmodel=large; do %flick -O2 $f -c %s -o %t.o && %links %t.o || { echo $f; exit 1; }; done
// RUN: %flick -O2 -emit-llvm -S %s -o %t.ll && %flick -O2 -S %s -o %t.s && %plain -c %t.s -o %t.o && %links %t.o
// RUN: %flick -O2 -masm=intel -S %s -o %t.s && %plain -c %t.s -o %t.o && %links %t.o
// RUN: %nxp %t.o %t.n && llvm-readelf-19 -hAW %t.n | FileCheck %s
// CHECK: Machine: RISC-V
// CHECK: Flags: 0x5, RVC, double-float ABI
// CHECK: Value: rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zifencei2p0_zmmul1p0_zba1p0_zbb1p0_zbs1p0
#include <flick.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"zero", "one", "two", "three"};
static const int primes[] = {2, 3, 5, 7};
int table[64];

FLICK_NXP int work(int n, const char *text) {
  char buffer[300];
  memset(buffer, n, sizeof buffer);
  for (int i = 0; i < 64; i++)
    table[i] = primes[i % 4] * n / (i + 1) + buffer[i];
  switch (n) {
  case 1: return puts("one");
  case 2: return puts("two");
  case 3: return puts("three");
  case 4: return puts("four");
  case 5: return puts("five");
  case 6: return (int)strlen(text);
  }
  return printf("%s %f\n", names[n & 3], n * 1.5);
}
