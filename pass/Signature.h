// Signatures of what crosses (crates/abi/src/signature.rs has the grammar).
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include <string>

namespace flick {

/// The class of an argument or of a part of a result; 0 if the crossing cannot carry it.
char classOf(llvm::Type *T);

/// The classes of a result's parts, `v` for none; empty if the crossing cannot carry it.
std::string classesOfResult(llvm::Type *T);

/// What carries a T in the NxP half, as argument or part of a result: types that both conventions,
/// and the marshaller, have a place for. T itself in most cases.
llvm::SmallVector<llvm::Type *, 2> nxpTypesOf(llvm::Type *T);

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
