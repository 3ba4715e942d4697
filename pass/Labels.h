// Addresses of labels: each copy of a function has its own.
#pragma once

#include "llvm/IR/Function.h"

namespace flick {

/// F may give addresses of its labels, or distances between them, to something that outlives a call
/// of it: then the next call must execute the same copy.
bool keepsLabels(const llvm::Function &F);

} // namespace flick
