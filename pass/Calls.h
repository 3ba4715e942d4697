// How a call in NxP code is made: decided here once, for the legality check and for the rewriting.
#pragma once

#include "Plan.h"
#include "Signature.h"

#include "llvm/IR/InstrTypes.h"
#include <optional>

namespace flick {

enum class CallForm {
  Local,       ///< to NxP code of the same unit
  Named,       ///< `__flick_call_g`
  NamedStub,   ///< a stub, target = address of g
  Pointer,     ///< plain indirect call
  PointerStub, ///< a stub, target = the pointer
  Uncovered,   ///< may leave the image with a signature that the crossing does not cover
};

struct CallPlan {
  CallForm Form;
  /// Direct callee (a function, an alias or an ifunc), or null.
  llvm::GlobalValue *Callee = nullptr;
  Signature Sig;

  bool isStub() const { return Form == CallForm::NamedStub || Form == CallForm::PointerStub; }
};

/// HasNxpCode tells the functions of this unit that can be entered directly. Not for intrinsics and
/// inline assembly.
CallPlan planCall(const llvm::CallBase &Call,
                  llvm::function_ref<bool(const llvm::Function *)> HasNxpCode);

/// A call that needs a plan: neither an intrinsic nor inline assembly.
bool isRealCall(const llvm::CallBase &Call);

/// Direct calls of F enter its NxP code here; false where the linker may choose another definition.
bool bindsLocally(const llvm::Function &F);

/// The form of the C library's `setjmp` that Call calls: whether it saves the signal mask is an
/// argument, or the name shows it.
struct SetjmpCall {
  std::optional<bool> SavesMask;
};
std::optional<SetjmpCall> setjmpOf(const llvm::CallBase &Call);

/// The allocator of NxP-local memory has a function of this name.
bool isHeapFunction(llvm::StringRef Name);

} // namespace flick
