// Move construction and assignment across sides: what was moved from is empty, nothing is copied,
// everything is destroyed once.
// OUT: 151010 33 1000
// OUT: live 0 copies 1 moves 7
#include <cstdio>
#include <flick.h>
#include <utility>

static int live, copies, moves;
class Buffer {
  int *data;
  int size;

public:
  FLICK_NXP explicit Buffer(int n) : data(new int[n]), size(n) {
    for (int i = 0; i < n; i++)
      data[i] = i;
    live++;
  }
  FLICK_NXP Buffer(const Buffer &b) : data(new int[b.size]), size(b.size) {
    for (int i = 0; i < size; i++)
      data[i] = b.data[i];
    live++, copies++;
  }
  FLICK_HOST Buffer(Buffer &&b) noexcept
      : data(std::exchange(b.data, nullptr)), size(std::exchange(b.size, 0)) {
    live++, moves++;
  }
  FLICK_NXP Buffer &operator=(Buffer &&b) noexcept {
    std::swap(data, b.data);
    std::swap(size, b.size);
    moves++;
    return *this;
  }
  FLICK_HOST ~Buffer() {
    delete[] data;
    live--;
  }
  FLICK_NXP int sum() const {
    int s = 0;
    for (int i = 0; i < size; i++)
      s += data[i];
    return s;
  }
};
FLICK_NXP static int sink(Buffer b) { return b.sum(); }
FLICK_HOST static int host_sink(Buffer &&b) {
  Buffer own(std::move(b));
  return own.sum();
}
FLICK_NXP static Buffer source(int n) {
  Buffer a(n), b(n + 1);
  if (n > 3)
    return b;
  return a;
}
FLICK_NXP static int on_nxp() {
  Buffer a(5), b(6);
  a = std::move(b);
  int s = sink(std::move(a)) * 100 + b.sum();
  return s * 100 + host_sink(std::move(b)) + b.sum();
}

int main() {
  {
    int a = on_nxp();
    Buffer x = source(3), y = source(4);
    int b = sink(x) + sink(std::move(x)) * 10, c = x.sum() + host_sink(std::move(y)) * 100;
    std::printf("%d %d %d\n", a, b, c);
  }
  std::printf("live %d copies %d moves %d\n", live, copies, moves);
}
