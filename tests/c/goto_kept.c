// The target of a jump to a label is chosen long before the jump: kept over calls, copied, spilled
// between many other values, chosen in other blocks, given to a function and had back.
#include <flick.h>
#include <stdio.h>

static unsigned long seen;
FLICK_HOST __attribute__((noinline)) static void note(unsigned long x) { seen = seen * 31 + x; }
FLICK_NXP __attribute__((noinline)) static void *same(void *label, unsigned long n) {
  note(n);
  return label;
}

FLICK_NXP __attribute__((noinline)) static unsigned long kept(unsigned long n, unsigned long a,
                                                              double x) {
  unsigned long sum = 0;
  void *next = &&one, *after = &&two;
again:
  note(sum);
  goto *next;
one:
  sum += a;
  next = n % 3 ? after : &&three;
  after = n % 2 ? &&three : &&one;
  if (n-- == 0)
    next = &&end;
  goto again;
two:
  sum *= 3;
  next = same(&&one, n);
  x *= 1.0009765625;
  goto *same(next, sum);
three:
  sum -= 5;
  next = n % 7 == 1 ? &&two : &&one;
  goto again;
end:
  return sum + (unsigned long)(x * 1024);
}

FLICK_NXP __attribute__((noinline)) static unsigned long spilled(const unsigned long *v,
                                                                 unsigned long n, unsigned long a) {
  unsigned long b = v[0], c = v[1], d = v[2], e = v[3], f = v[4], g = v[5], h = v[6], i = v[7];
  unsigned long j = v[8], k = v[9], l = v[10], m = v[11], o = v[12], p = v[13], q = v[14];
  void *next = &&one;
again:
  b += c ^ d, c += d ^ e, d += e ^ f, e += f ^ g, f += g ^ h, g += h ^ i, h += i ^ j;
  i += j ^ k, j += k ^ l, k += l ^ m, l += m ^ o, m += o ^ p, o += p ^ q, p += q ^ b, q += b ^ c;
  goto *next;
one:
  next = b & 1 ? &&two : &&three;
  a += q;
  goto again;
two:
  next = p & 1 ? &&one : &&three;
  a ^= e << 7;
  goto again;
three:
  next = n-- ? &&one : &&end;
  a -= l;
  goto again;
end:
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ o ^ p ^ q;
}

int main(void) {
  printf("%lx", kept(300, 11, 3.5));
  printf(" %lx\n", seen);
  const unsigned long v[15] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  printf("%lx\n", spilled(v, 300, 77));
}
