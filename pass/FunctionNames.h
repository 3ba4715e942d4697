// The names under which a placement file may mean a function.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace flick {

/// Text without the blanks that C++ does not need, so that spellings agree: `char const *` and
/// `char const*`, `> >` and `>>`.
std::string squeeze(llvm::StringRef Text);

/// The symbol of the function that a thunk leads to; any other symbol as it is.
std::string throughThunk(llvm::StringRef Symbol);

/// All of them, the linker's first, each squeezed. For `_ZNK1VIiE2goIlEET_i` these are also
/// `V<int>::go<long>`, `V::go`, both with parameters, and the whole `long
/// V<int>::go<long>(int)const`. A thunk has the names of the function that it leads to.
llvm::SmallVector<std::string> functionNames(llvm::StringRef Symbol);

} // namespace flick
