// What each module has a copy of and the linker makes one: inline functions with static locals and
// local types, inline variables, a template's members, vtables and type information.
#include <cstdio>
#include <flick.h>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <vector>

struct Base {
  virtual ~Base() = default;
  virtual int kind() const { return 0; }
};
template <typename T> struct Holder : Base {
  T value{};
  static int count;
  int kind() const override { return static_cast<int>(sizeof(T)); }
};
template <typename T> int Holder<T>::count = 0;

struct Made {
  static inline int times = 0;
  int id;
  explicit Made(int id) : id(id) { times++; }
};
inline Made &single() {
  static Made made(7);
  return made;
}
inline std::string inline_text = "text";

// A type of this function alone.
inline Base *local_type() {
  struct Local : Base {
    int kind() const override { return 99; }
  };
  return new Local;
}
inline auto lambda() {
  return [] { return 5; };
}
struct Thrown {
  int from;
};

inline const void *vtable_of(const Base *b) { return *reinterpret_cast<const void *const *>(b); }

// The addresses of all of these, as one side of one module has them.
#define ADDRESSES(mark, list)                                                                      \
  mark std::vector<const void *> list() {                                                          \
    Base *h = new Holder<double>, *l = local_type();                                               \
    int (Base::*member)() const = &Base::kind;                                                     \
    int (Holder<long>::*other)() const = &Holder<long>::kind;                                      \
    bool equal = static_cast<int (Holder<long>::*)() const>(member) == other;                      \
    std::vector<const void *> out = {vtable_of(h),                                                 \
                                     vtable_of(l),                                                 \
                                     &typeid(*h),                                                  \
                                     &typeid(*l),                                                  \
                                     typeid(*l).name(),                                            \
                                     &typeid(lambda()),                                            \
                                     &typeid(Thrown),                                              \
                                     &typeid(std::vector<Holder<char>>),                           \
                                     &single(),                                                    \
                                     &inline_text,                                                 \
                                     &Holder<double>::count,                                       \
                                     dynamic_cast<Holder<double> *>(h) ? &Made::times : nullptr,   \
                                     reinterpret_cast<const void *>(&single),                      \
                                     reinterpret_cast<const void *>(&local_type),                  \
                                     equal ? &Made::times : nullptr};                              \
    delete h;                                                                                      \
    delete l;                                                                                      \
    return out;                                                                                    \
  }
using addresses = std::vector<const void *>;
addresses one_host(), one_nxp(), two_host(), two_nxp();
void one_throws(), two_throws();
