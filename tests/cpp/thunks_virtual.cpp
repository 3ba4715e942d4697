// Thunks that adjust `this` by a table and the result, too: overrides reached through virtual bases
// at several depths, covariant results that are virtual bases of what is made, over-aligned and
// non-trivial results and arguments behind an adjusted `this`, pointers to such members.
// OUT: nxp: left 11 right 21 top 31 | made 7 at 7 | text left+nxp 1
// OUT: nxp: left 12 right 22 top 32 | made 8 at 8 | text left+host 1
// OUT: host: left 11 right 21 top 31 | made 7 at 7 | text left+nxp 1
// OUT: host: left 12 right 22 top 32 | made 8 at 8 | text left+host 1
// OUT: members 31 32 31 32
// OUT: alive 0
#include <cstdint>
#include <cstdio>
#include <flick.h>
#include <string>

struct Top {
  static int alive;
  long id;
  explicit Top(long id) : id(id) { alive++; }
  Top(const Top &o) : id(o.id) { alive++; }
  virtual ~Top() { alive--; }
  virtual int top() const = 0;
  virtual Top *copy(int n) const = 0;
};
int Top::alive;

struct alignas(64) Wide {
  std::string text;
  Wide(const char *t) : text(t) {}
};

struct Left : virtual Top {
  long left_pad[3] = {1, 2, 3};
  Left() : Top(0) {}
  virtual int left() const = 0;
  virtual Wide wide(Wide with) const = 0;
};
struct Right : virtual Top {
  long right_pad = 4;
  Right() : Top(0) {}
  virtual int right() const = 0;
};

struct Nxp final : Left, Right {
  explicit Nxp(long n) : Top(n) {}
  FLICK_NXP int left() const override { return 10 + static_cast<int>(id); }
  FLICK_NXP int right() const override { return 20 + static_cast<int>(id); }
  FLICK_NXP int top() const override { return 30 + static_cast<int>(id); }
  FLICK_NXP Nxp *copy(int n) const override { return new Nxp(id + n); }
  FLICK_NXP Wide wide(Wide with) const override {
    with.text = "left+" + with.text;
    return with;
  }
};
struct Middle : Left, Right {
  Middle() : Top(0) {}
  Middle *copy(int n) const override = 0;
};
struct Host final : Middle {
  explicit Host(long n) : Top(n) {}
  FLICK_HOST int left() const override { return 10 + static_cast<int>(id); }
  FLICK_HOST int right() const override { return 20 + static_cast<int>(id); }
  FLICK_HOST int top() const override { return 30 + static_cast<int>(id); }
  FLICK_HOST Host *copy(int n) const override { return new Host(id + n); }
  FLICK_HOST Wide wide(Wide with) const override {
    with.text = "left+" + with.text;
    return with;
  }
};

static inline void use(const char *side, const Left &l, const Right &r, const char *word) {
  const Top &t = l;
  const Top *made = t.copy(6);
  Wide w = l.wide(Wide(word));
  std::printf("%s: left %d right %d top %d | made %ld at %d | text %s %d\n", side, l.left(),
              r.right(), t.top(), made->id, made->top() - 30, w.text.c_str(),
              reinterpret_cast<std::uintptr_t>(&w) % 64 == 0);
  delete made;
}
FLICK_NXP static void use_nxp(const Left &l, const Right &r, const char *word) {
  use("nxp", l, r, word);
}
FLICK_HOST static void use_host(const Left &l, const Right &r, const char *word) {
  use("host", l, r, word);
}

FLICK_NXP static int (Top::*member())() const { return &Top::top; }
FLICK_NXP static int call_nxp(const Right &r, int (Top::*m)() const) { return (r.*m)(); }
FLICK_HOST static int call_host(const Right &r, int (Top::*m)() const) { return (r.*m)(); }

int main() {
  {
    Nxp n(1);
    Host h(2);
    use_nxp(n, n, "nxp");
    use_nxp(h, h, "host");
    use_host(n, n, "nxp");
    use_host(h, h, "host");
    std::printf("members %d %d %d %d\n", call_nxp(n, member()), call_nxp(h, &Top::top),
                call_host(n, &Top::top), call_host(h, member()));
  }
  std::printf("alive %d\n", Top::alive);
}
