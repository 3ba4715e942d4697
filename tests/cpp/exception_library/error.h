#include <flick.h>
#include <stdexcept>

struct Error : std::runtime_error {
  int code;
  explicit Error(int code) : std::runtime_error("library"), code(code) {}
  ~Error() override;
};
template <class T> struct Value {
  T value;
};
int library_throws(int what);
int library_catches(int (*f)(int), int what);
extern "C" int in_c(int (*f)(int), int what);
extern "C" void c_cleanup(int *);
