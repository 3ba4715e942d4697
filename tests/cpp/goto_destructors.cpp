// Jumps to labels by their addresses in C++: between them are objects with destructors, exceptions
// that are caught and some that leave, and the function is a template of two table types and a
// member.
#include <cstdio>
#include <flick.h>
#include <stdexcept>
#include <string>

static unsigned long made, gone;

struct Counted {
  std::string text;
  explicit Counted(unsigned long n) : text(n % 40, 'x') { made += n; }
  ~Counted() { gone += text.size(); }
};

FLICK_HOST __attribute__((noinline)) static unsigned long check(unsigned long n) {
  if (n % 5 == 3)
    throw std::runtime_error("five");
  return n;
}

template <typename Operand> struct Machine {
  Operand a, b;

  FLICK_NXP __attribute__((noinline)) unsigned long run(const unsigned char *pc, unsigned long n) {
    void *table[] = {&&add, &&mul, &&object, &&risky, &&loop, &&end};
    const unsigned char *start = pc;
    unsigned long sum = 0;
    goto *table[*pc++];
  add:
    sum += static_cast<unsigned long>(a);
    goto *table[*pc++];
  mul:
    sum *= 3;
    goto *table[*pc++];
  object: {
    Counted one(sum % 100);
    Counted two(one.text.size() + n);
    sum += two.text.size();
  }
    goto *table[*pc++];
  risky:
    try {
      Counted guard(7);
      sum += check(sum);
    } catch (const std::runtime_error &e) {
      sum ^= static_cast<unsigned long>(b);
    }
    goto *table[*pc++];
  loop:
    if (--n)
      pc = start;
    else if (sum % 2)
      throw Counted(sum);
    goto *table[*pc++];
  end:
    return sum;
  }
};

int main() {
  const unsigned char p[] = {0, 1, 2, 3, 0, 4, 5};
  Machine<unsigned long> integers{7, 9};
  Machine<double> floats{7.75, 1234.5};
  for (unsigned long n = 60; n < 80; ++n) {
    try {
      std::printf("%lx ", integers.run(p, n));
    } catch (const Counted &it) {
      std::printf("(%zu) ", it.text.size());
    }
    try {
      std::printf("%lx\n", floats.run(p, n + 7));
    } catch (const Counted &it) {
      std::printf("(%zu)\n", it.text.size());
    }
  }
  std::printf("%lx %lx\n", made, gone);
}
