// Unions with members that have constructors, anonymous unions in classes, type punning through
// memcpy, a tagged union of the program's own.
// OUT: 1229 3 c004000000000000
#include <cstdio>
#include <cstring>
#include <flick.h>
#include <new>

struct Text {
  char *s;
  FLICK_NXP explicit Text(const char *t) : s(new char[std::strlen(t) + 1]) { std::strcpy(s, t); }
  FLICK_HOST ~Text() { delete[] s; }
};
class Value {
  enum Kind { number, real, text } kind;
  union {
    long n;
    double d;
    Text t;
  };

public:
  FLICK_NXP explicit Value(long x) : kind(number), n(x) {}
  FLICK_HOST explicit Value(double x) : kind(real), d(x) {}
  FLICK_NXP explicit Value(const char *s) : kind(text), t(s) {}
  FLICK_NXP ~Value() {
    if (kind == text)
      t.~Text();
  }
  FLICK_NXP void become(const char *s) {
    this->~Value();
    kind = text;
    new (&t) Text(s);
  }
  FLICK_NXP double weight() const {
    switch (kind) {
    case number:
      return static_cast<double>(n);
    case real:
      return d * 2;
    default:
      return static_cast<double>(std::strlen(t.s));
    }
  }
};
FLICK_NXP static unsigned long bits(double d) {
  unsigned long u;
  static_assert(sizeof u == sizeof d, "same size");
  std::memcpy(&u, &d, sizeof u);
  return u;
}
FLICK_NXP static double on_nxp() {
  Value a(5L), b(1.25), c("text");
  a.become("twelve chars");
  return a.weight() * 100 + b.weight() * 10 + c.weight();
}

int main() {
  Value v(2.0);
  v.become("abc");
  std::printf("%g %g %lx\n", on_nxp(), v.weight(), bits(-2.5));
}
