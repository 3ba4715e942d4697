// Second names of one object. The halves declare what the other one defines, and to LLVM two
// declarations are two objects.
#pragma once

#include "llvm/IR/Module.h"

namespace flick {

/// Replaces aliases that the linker cannot replace by what they stand for; the aliases stay as
/// symbols. True if there was one.
bool resolveAliases(llvm::Module &M);

/// Hides from LLVM what `V`, a declaration in the place of an alias, is: it may be at any address.
/// Direct calls keep their callee.
void hideIdentity(llvm::GlobalValue &V);

} // namespace flick
