#include "Labels.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace flick {

/// What becomes of a value in every way, as far as it is computed with; a table that holds it is
/// only read.
static bool isOnlyJumpedTo(const Value &V, SmallPtrSetImpl<const Value *> &Seen) {
  if (!Seen.insert(&V).second)
    return true;
  return all_of(V.users(), [&](const User *By) {
    if (isa<IndirectBrInst>(By) || isa<CmpInst>(By))
      return true;
    if (auto *Table = dyn_cast<GlobalVariable>(By); Table && !Table->hasLocalLinkage())
      return false;
    bool Goes = isa<GlobalVariable>(By) || isa<Constant>(By) || isa<LoadInst>(By) ||
                isa<PHINode>(By) || isa<SelectInst>(By) || isa<CastInst>(By) ||
                isa<BinaryOperator>(By) || isa<GetElementPtrInst>(By);
    return Goes && isOnlyJumpedTo(*By, Seen);
  });
}

bool keepsLabels(const Function &F) {
  SmallPtrSet<const Value *, 16> Seen;
  return any_of(F, [&](const BasicBlock &Block) {
    const BlockAddress *Label = BlockAddress::lookup(&Block);
    return Label && !isOnlyJumpedTo(*Label, Seen);
  });
}

} // namespace flick
