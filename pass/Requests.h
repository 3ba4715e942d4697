// Functions with the mark FLICK_ON: a call is a request to an accelerator (docs/host-files.md).
#pragma once

#include "llvm/IR/Module.h"

namespace flick {

enum class RequestsMade { None, Some, Failed };

/// Gives them bodies that make the request. Their own bodies are functions beside them, for runs
/// without such an accelerator. Failed: an error was reported.
RequestsMade makeRequests(llvm::Module &M);

} // namespace flick
