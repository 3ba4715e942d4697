// Errors in clang's own form: file:line:col: error: [FLKnnnn] what: why; help.
#pragma once

#include "Plan.h"

namespace flick {

/// Reports Why at the instruction it speaks of, else at F's definition.
void report(const llvm::Function &F, const Refusal &Why);

/// Reports at a line that the front end wrote down.
void report(llvm::Module &M, const SourcePlace &Place, const llvm::Twine &Message);

/// Reports without a place in the source.
void report(llvm::Module &M, const llvm::Twine &Message);

} // namespace flick
