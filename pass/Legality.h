// What can run on the NxP: refusals of single functions, and the set of functions that is left.
#pragma once

#include "Plan.h"

#include "llvm/IR/InstrTypes.h"
#include <optional>

namespace flick {

/// What in F's signature, attributes and body has no RV64 form, whatever its calls lead to.
std::vector<Refusal> checkBody(llvm::Function &F);

/// The refusal of an intrinsic, if it has no RV64 form here.
std::optional<Refusal> checkIntrinsic(const llvm::CallBase &Call);

/// The refusal of a type, if values of it cannot live on the NxP.
std::optional<Refusal> checkType(llvm::Type *T);

/// The constraint string that empty inline assembly gets on RV64; none if it has no such form.
std::optional<std::string> nxpConstraints(const llvm::CallBase &Call);

/// From Choices: Functions, Refused and DeclareOnly. Reports the refusals of firm choices; false if
/// there are any.
bool decideMembers(Plan &P);

} // namespace flick
