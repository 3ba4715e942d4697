// From the names of the source to symbols, and from its calls to crossings, behind the optimiser.
#include "NxpHalf.h"
#include "flick_abi.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"

using namespace llvm;

namespace flick {
namespace {

class Settler {
public:
  explicit Settler(NxpHalf &Half) : Half(Half), N(*Half.N) {}

  Error run() {
    for (Function &F : N)
      if (!F.isDeclaration())
        Code.insert(&F);
    for (Function *F : Code)
      lowerArithmetic(*F, Half.Library);
    for (Function &F : N)
      if (auto It = Half.Symbols.find(F.getName()); It != Half.Symbols.end())
        HostSymbols[&F] = It->second.Host;
    if (Error E =
            rewriteCalls(N, Code, [&](const GlobalValue &V) { return HostSymbols.lookup(&V); }))
      return E;
    for (Function *F : Code)
      rename(*F);
    for (Function &F : N)
      if (F.isDeclaration())
        if (auto It = HostSymbols.find(&F); It != HostSymbols.end())
          F.setName(It->second);
    removeUnused(N);
    return Error::success();
  }

private:
  NxpHalf &Half;
  Module &N;
  SetVector<Function *> Code;
  DenseMap<const GlobalValue *, std::string> HostSymbols;

  /// Gives NxP code its name, and what uses its address the address of the gate or host copy.
  void rename(Function &F) {
    F.setVisibility(F.hasLocalLinkage() ? GlobalValue::DefaultVisibility
                                        : GlobalValue::HiddenVisibility);
    F.setDSOLocal(true);
    auto It = Half.Symbols.find(F.getName());
    if (It == Half.Symbols.end()) { // a copy that the optimiser made for some of the callers
      F.setName(FLICK_NXP_PREFIX + F.getName());
      return;
    }
    const NxpSymbols &Mine = It->second;
    F.setName(Mine.Code);
    auto TakesAddress = [](const Use &U) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      return !isa<BlockAddress>(U.getUser()) && !(Call && Call->isCallee(&U));
    };
    F.removeDeadConstantUsers();
    if (none_of(F.uses(), TakesAddress))
      return;
    auto *Address = N.getFunction(Mine.Host);
    if (!Address) {
      Address = Function::Create(F.getFunctionType(), GlobalValue::ExternalLinkage, Mine.Host, N);
      Address->setCallingConv(F.getCallingConv());
    }
    F.replaceUsesWithIf(Address, TakesAddress);
  }
};

} // namespace

Error settle(NxpHalf &Half) { return Settler(Half).run(); }

void removeUnused(Module &N) {
  bool Again = true;
  while (Again) {
    Again = false;
    for (GlobalVariable &V : make_early_inc_range(N.globals())) {
      V.removeDeadConstantUsers();
      if (V.use_empty()) {
        V.eraseFromParent();
        Again = true;
      }
    }
    for (Function &F : make_early_inc_range(N)) {
      F.removeDeadConstantUsers();
      if (F.isDeclaration() && F.use_empty()) {
        F.eraseFromParent();
        Again = true;
      }
    }
  }
}

} // namespace flick
