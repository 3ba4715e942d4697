// The part of <new> that the compiler knows; there is no C++ library for these programs.
#pragma once
#include <stddef.h>

namespace std {
enum class align_val_t : size_t {};
struct nothrow_t {
  explicit nothrow_t() = default;
};
extern const nothrow_t nothrow;
} // namespace std
