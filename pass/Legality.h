// What can run on the NxP: refusals of single functions, and the set of functions that is left.
#pragma once

#include "Plan.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include <optional>

namespace flick {

/// What in F's signature, attributes and body has no RV64 form, whatever its calls lead to.
std::vector<Refusal> checkBody(llvm::Function &F);

/// The refusal of an intrinsic, if it has no RV64 form here.
std::optional<Refusal> checkIntrinsic(const llvm::CallBase &Call);

/// The refusal of a type, if values of it cannot live on the NxP.
std::optional<Refusal> checkType(llvm::Type *T);

/// What a statement of x86-64 that orders or delays, and computes nothing, is on RV64.
enum class Ordering { None, Pause, Fence };

/// Inline assembly whose instructions have an RV64 form.
struct NxpAssembly {
  Ordering Does;
  /// What it is on RV64 beside that.
  std::string Template;
  std::string Constraints;
};
std::optional<NxpAssembly> nxpAssembly(const llvm::CallBase &Call);

/// Whether inline assembly has custom opcodes of RV64 alone: `.insn r 0x0b, 7, 0, %0, %1, %2`.
bool isCustomAssembly(const llvm::CallBase &Call);

/// The same for an intrinsic.
std::optional<Ordering> nxpOrdering(llvm::Intrinsic::ID Id);

/// From Choices: Functions, Refused and DeclareOnly. Reports the refusals of firm choices; false if
/// there are any.
bool decideMembers(Plan &P);

} // namespace flick
