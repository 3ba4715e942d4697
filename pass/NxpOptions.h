// What `-Xnxp` and `--nxp-march` ask of the NxP compile, and options that exclude NxP code.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Support/Error.h"
#include <string>

namespace flick {

struct NxpOptions {
  llvm::OptimizationLevel Level;
  /// The instruction set, in LLVM's features.
  std::string Features;
  /// A processor to schedule for, or nothing.
  std::string Tune;
  /// What clang's pipeline for the host half has, where the level does not say.
  bool Unroll = false, Vectorize = false, LocalBounds = false;
};

/// The options of the command line; Host is the level of the host half.
llvm::Expected<NxpOptions> readNxpOptions(llvm::OptimizationLevel Host);

/// Gives the functions of the NxP half the level's attributes in place of those of the host's.
void applyOptions(llvm::Module &N, const NxpOptions &Options);

/// An option of the compile that does not go together with NxP code, or nothing.
llvm::StringRef refusedOption();

} // namespace flick
