// Names that something besides the IR may use.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"
#include <string>

namespace flick {

/// Symbols of existing assembly and of `__attribute__((used))` keep their names.
class PinnedNames {
public:
  explicit PinnedNames(llvm::Module &M);

  bool contains(const llvm::GlobalValue &V) const;

private:
  std::string AsmText;
  llvm::SmallPtrSet<const llvm::GlobalValue *, 8> Used;
};

} // namespace flick
