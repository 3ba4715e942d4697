// What a call of a library's function says to the runtime: the length that its rule counts
// (platforms/library.toml).
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace flick {

/// memcpy, memmove or memset of three arguments.
bool isMemoryFunction(const llvm::CallBase &Call);

/// An i64: what the callee's time depends on, or 0. Behind the call.
llvm::Value *lengthOf(llvm::CallBase &Call, llvm::IRBuilder<> &B);

} // namespace flick
