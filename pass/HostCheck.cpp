#include "HostCheck.h"
#include "flick_abi.h"

#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace flick {

static cl::opt<bool>
    CheckOption("flick-check-device",
                cl::desc("Flick: host code records its accesses (FLICK_CHECK=device)"));

namespace {

/// Kinds of `__flick_check`.
enum : unsigned { Read = 0, Write = 1, Atomic = 2 };

class Recorder {
public:
  explicit Recorder(Function &F) : F(F), M(*F.getParent()), Layout(M.getDataLayout()) {}

  bool run() {
    SmallVector<Instruction *> All;
    for (Instruction &I : instructions(F))
      All.push_back(&I);
    for (Instruction *I : All)
      visit(*I);
    return Changed;
  }

private:
  Function &F;
  Module &M;
  const DataLayout &Layout;
  DenseMap<unsigned, Constant *> Places;
  bool Changed = false;

  void visit(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      record(I, Load->getPointerOperand(), Load->getType(), Load->isAtomic() ? Atomic : Read);
    else if (auto *Store = dyn_cast<StoreInst>(&I))
      record(I, Store->getPointerOperand(), Store->getValueOperand()->getType(),
             Write | (Store->isAtomic() ? Atomic : 0));
    else if (auto *Rmw = dyn_cast<AtomicRMWInst>(&I))
      record(I, Rmw->getPointerOperand(), Rmw->getType(), Write | Atomic);
    else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      record(I, Swap->getPointerOperand(), Swap->getNewValOperand()->getType(), Write | Atomic);
    else if (auto *Memory = dyn_cast<MemIntrinsic>(&I)) {
      record(I, Memory->getRawDest(), Memory->getLength(), Write);
      if (auto *Copy = dyn_cast<MemTransferInst>(Memory))
        record(I, Copy->getRawSource(), Copy->getLength(), Read);
    }
  }

  void record(Instruction &I, Value *Pointer, Type *T, unsigned Kind) {
    TypeSize Size = Layout.getTypeStoreSize(T);
    if (!Size.isScalable())
      record(I, Pointer, ConstantInt::get(Type::getInt64Ty(M.getContext()), Size.getFixedValue()),
             Kind);
  }

  void record(Instruction &I, Value *Pointer, Value *Size, unsigned Kind) {
    // Other address spaces are segments; what never changes, and what no other thread knows of, is
    // nobody's business.
    if (Pointer->getType()->getPointerAddressSpace() != 0)
      return;
    const Value *Object = getUnderlyingObject(Pointer);
    if (auto *V = dyn_cast<GlobalVariable>(Object); V && V->isConstant())
      return;
    if (isa<AllocaInst>(Object) &&
        !PointerMayBeCaptured(Object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true))
      return;
    IRBuilder<> B(&I);
    FunctionCallee Callee = M.getOrInsertFunction(
        FLICK_RT_CHECK,
        FunctionType::get(B.getVoidTy(),
                          {B.getPtrTy(), B.getInt64Ty(), B.getInt32Ty(), B.getPtrTy()},
                          /*isVarArg=*/false));
    CallInst *Call = B.CreateCall(Callee, {Pointer, B.CreateZExtOrTrunc(Size, B.getInt64Ty()),
                                           B.getInt32(Kind), place(I, B)});
    Call->setDoesNotThrow();
    Changed = true;
  }

  /// `function (file.c:12)`.
  Constant *place(const Instruction &I, IRBuilder<> &B) {
    const DebugLoc &At = I.getDebugLoc();
    unsigned Line = At ? At.getLine() : 0;
    Constant *&Text = Places[Line];
    if (!Text) {
      std::string Words = demangle(F.getName());
      if (Line)
        Words += (" (" + At->getFilename() + ":" + Twine(Line) + ")").str();
      else
        Words += (" (" + M.getSourceFileName() + ")");
      Text = B.CreateGlobalString(Words, "flick.check", 0, &M);
    }
    return Text;
  }
};

} // namespace

PreservedAnalyses HostCheckPass::run(Module &M, ModuleAnalysisManager &) {
  bool Changed = false;
  if (CheckOption)
    for (Function &F : M)
      if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked) &&
          !F.getName().starts_with(FLICK_HOST_CLONE_PREFIX))
        Changed |= Recorder(F).run();
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace flick
