// The records that -grecord-command-line and -frecord-command-line leave.
#pragma once

#include "llvm/IR/Module.h"

namespace flick {

/// Puts the user's command line (`-flick-command-line=`) in the place of the one that clang was
/// given.
void restoreCommandLine(llvm::Module &M);

} // namespace flick
