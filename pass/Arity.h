// Which registers functions get arguments in and give results back in, for the translator.
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include <string>

namespace flick {

/// Assembly of the section FLICK_SEC_ARITY: a record for each function that N defines and whose
/// registers are certain. Call it on what the code generator gets.
std::string arityRecords(const llvm::Module &N);

} // namespace flick
