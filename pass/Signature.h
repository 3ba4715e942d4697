// Signatures of what crosses (crates/abi/src/signature.rs has the grammar).
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include <string>

namespace flick {

struct Signature {
  /// The text; empty if the crossing does not cover it.
  std::string Text;
  /// Why it is not covered.
  std::string Why;
  /// Both conventions agree where every value is, seen from a definition (host calls NxP)
  bool PlainDefinition = false;
  /// and seen from a call (NxP calls host).
  bool PlainCall = false;

  bool covered() const { return !Text.empty(); }
};

Signature signatureOf(const llvm::Function &F);
Signature signatureOf(const llvm::CallBase &Call);

} // namespace flick
