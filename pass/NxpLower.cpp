// What means something else on RV64, or would need a library that only the host has.
#include "Calls.h"
#include "Legality.h"
#include "NxpHalf.h"
#include "References.h"
#include "flick_abi.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace flick {
namespace {

constexpr uint64_t VaListSize = 24; // System V x86-64 psABI 3.5.7

/// The C function that computes an intrinsic for which RV64GC has no instructions. Where the code
/// generator would call it by itself, a float result would not be NaN-boxed by the host.
StringRef libraryFunction(Intrinsic::ID Id, bool Strict) {
  switch (Id) {
#define FLICK_LIBRARY(NAME)                                                                        \
  case Intrinsic::NAME:                                                                            \
  case Intrinsic::experimental_constrained_##NAME:                                                 \
    return #NAME;
    FLICK_LIBRARY(acos)
    FLICK_LIBRARY(asin)
    FLICK_LIBRARY(atan)
    FLICK_LIBRARY(cos)
    FLICK_LIBRARY(cosh)
    FLICK_LIBRARY(exp)
    FLICK_LIBRARY(exp2)
    FLICK_LIBRARY(ldexp)
    FLICK_LIBRARY(log)
    FLICK_LIBRARY(log10)
    FLICK_LIBRARY(log2)
    FLICK_LIBRARY(pow)
    FLICK_LIBRARY(sin)
    FLICK_LIBRARY(sinh)
    FLICK_LIBRARY(tan)
    FLICK_LIBRARY(tanh)
#undef FLICK_LIBRARY
  case Intrinsic::exp10:
    return "exp10";
  case Intrinsic::experimental_constrained_frem:
    return "fmod";
  default:
    break;
  }
  // RV64 does these in place, but not where the floating-point environment counts.
  if (Strict)
    switch (Id) {
#define FLICK_LIBRARY(INTRINSIC, NAME)                                                             \
  case Intrinsic::experimental_constrained_##INTRINSIC:                                            \
    return #NAME;
      FLICK_LIBRARY(llrint, llrint)
      FLICK_LIBRARY(llround, llround)
      FLICK_LIBRARY(lrint, lrint)
      FLICK_LIBRARY(lround, lround)
      FLICK_LIBRARY(maxnum, fmax)
      FLICK_LIBRARY(minnum, fmin)
#undef FLICK_LIBRARY
    default:
      break;
    }
  return "";
}

std::string withSuffix(StringRef Name, Type *T) {
  return T->isFloatTy() ? (Name + "f").str() : Name.str();
}

/// Multiplications with additions, which the host fuses or not.
void lowerMulAdd(IntrinsicInst &I, bool Fused) {
  IRBuilder<> B(&I);
  Value *X = I.getArgOperand(0), *Y = I.getArgOperand(1), *Z = I.getArgOperand(2), *Out;
  if (I.getIntrinsicID() == Intrinsic::fmuladd) {
    B.setFastMathFlags(I.getFastMathFlags());
    Out = Fused ? B.CreateIntrinsic(Intrinsic::fma, {I.getType()}, {X, Y, Z}, &I)
                : B.CreateFAdd(B.CreateFMul(X, Y), Z);
  } else {
    Value *Rounding = I.getArgOperand(3), *Exceptions = I.getArgOperand(4);
    auto Make = [&](Intrinsic::ID Id, SmallVector<Value *> Operands) {
      Operands.append({Rounding, Exceptions});
      CallInst *Call = B.CreateIntrinsic(Id, {I.getType()}, Operands);
      Call->addFnAttr(Attribute::StrictFP);
      return Call;
    };
    Out = Fused ? Make(Intrinsic::experimental_constrained_fma, {X, Y, Z})
                : Make(Intrinsic::experimental_constrained_fadd,
                       {Make(Intrinsic::experimental_constrained_fmul, {X, Y}), Z});
  }
  I.replaceAllUsesWith(Out);
  I.eraseFromParent();
}

class Lowering {
public:
  explicit Lowering(Function &F) : F(F), M(*F.getParent()), Fused(hostFuses()) {}

  void run() {
    // What becomes of inline assembly, which is empty here, cannot unwind.
    for (BasicBlock &Block : F)
      if (auto *Invoke = dyn_cast<InvokeInst>(Block.getTerminator());
          Invoke && (Invoke->isInlineAsm() || setjmpOf(*Invoke)))
        changeToCall(Invoke);
    for (Instruction &I : make_early_inc_range(instructions(F))) {
      if (isa<FPMathOperator>(I) && !Fused)
        I.setHasAllowContract(false);
      if (auto *Call = dyn_cast<CallBase>(&I);
          Call && Call->getCallingConv() == CallingConv::X86_64_SysV)
        Call->setCallingConv(CallingConv::C);
      if (auto *Call = dyn_cast<CallInst>(&I))
        lowerCall(*Call);
    }
    F.setCallingConv(CallingConv::C);
  }

private:
  Function &F;
  Module &M;
  bool Fused;

  bool hostFuses() const {
    SmallVector<StringRef> Features;
    F.getFnAttribute("target-features").getValueAsString().split(Features, ',');
    return any_of(Features,
                  [](StringRef S) { return S == "+fma" || S == "+fma4" || S == "+avx512f"; });
  }

  void lowerCall(CallInst &Call) {
    if (Call.isInlineAsm())
      return lowerAsm(Call);
    if (auto Setjmp = setjmpOf(Call))
      return lowerSetjmp(Call, *Setjmp);
    auto *I = dyn_cast<IntrinsicInst>(&Call);
    if (!I)
      return;
    if (isCounter(*I)) {
      I->eraseFromParent();
      return;
    }
    IRBuilder<> B(I);
    if (auto Does = nxpOrdering(I->getIntrinsicID())) {
      order(IRBuilder<>(I), *Does);
      I->eraseFromParent();
      return;
    }
    switch (I->getIntrinsicID()) {
    case Intrinsic::var_annotation:
    case Intrinsic::vaend:
      I->eraseFromParent();
      return;
    case Intrinsic::ptr_annotation:
    case Intrinsic::annotation:
      replace(*I, I->getArgOperand(0));
      return;
    case Intrinsic::vacopy:
      B.CreateMemCpy(I->getArgOperand(0), Align(8), I->getArgOperand(1), Align(8), VaListSize);
      I->eraseFromParent();
      return;
    case Intrinsic::fmuladd:
    case Intrinsic::experimental_constrained_fmuladd:
      // The others stay one for the optimiser, as in the host half.
      if (Fused)
        lowerMulAdd(*I, Fused);
      return;
    default:
      return;
    }
  }

  static void replace(Instruction &I, Value *By) {
    I.replaceAllUsesWith(By);
    I.eraseFromParent();
  }

  /// The function keeps what the second return needs in its own frame.
  void lowerSetjmp(CallInst &Call, const SetjmpCall &Form) {
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
    Value *Target =
        Entry.CreateAlloca(ArrayType::get(Entry.getInt64Ty(), FLICK_JUMP_TARGET_SIZE / 8));
    IRBuilder<> B(&Call);
    auto *Pointer = B.getPtrTy();
    FunctionCallee Callee = M.getOrInsertFunction(
        FLICK_RT_SETJMP, FunctionType::get(B.getInt32Ty(), {Pointer, B.getInt32Ty(), Pointer},
                                           /*isVarArg=*/false));
    cast<Function>(Callee.getCallee())->addFnAttr(Attribute::ReturnsTwice);
    Value *Mask = Form.SavesMask ? B.getInt32(*Form.SavesMask) : Call.getArgOperand(1);
    CallInst *Out = B.CreateCall(Callee, {Call.getArgOperand(0), Mask, Target});
    Out->addFnAttr(Attribute::ReturnsTwice);
    Out->setDoesNotThrow();
    replace(Call, Out);
  }

  /// Zihintpause's `pause` is a hint in the place of a fence, and known to every assembler by its
  /// bits.
  void order(IRBuilder<> B, Ordering Does) {
    if (Does == Ordering::Fence)
      B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    else if (Does == Ordering::Pause)
      B.CreateCall(InlineAsm::get(FunctionType::get(B.getVoidTy(), false), ".4byte 0x0100000f", "",
                                  /*hasSideEffects=*/true));
  }

  void lowerAsm(CallInst &Call) {
    auto *Old = cast<InlineAsm>(Call.getCalledOperand());
    auto [Does, Template, Constraints] =
        nxpAssembly(Call).value_or(NxpAssembly{Ordering::None, "", ""});
    order(IRBuilder<>(&Call), Does);
    Call.setCalledOperand(InlineAsm::get(Old->getFunctionType(), Template, Constraints,
                                         Old->hasSideEffects(), /*isAlignStack=*/false));
  }
};

class Arithmetic {
public:
  Arithmetic(Function &F, const TargetLibraryInfoImpl &Library)
      : F(F), M(*F.getParent()), Library(Library, &F) {}

  void run() {
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (I.getOpcode() == Instruction::FRem)
        replaceByLibrary(I, "fmod", {I.getOperand(0), I.getOperand(1)}, true);
      else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
        lower(*Intrinsic);
      else if (auto *Call = dyn_cast<CallInst>(&I); Call && isSquareRoot(*Call))
        replace(I, IRBuilder<>(Call).CreateUnaryIntrinsic(Intrinsic::sqrt, Call->getArgOperand(0),
                                                          isa<FPMathOperator>(I) ? &I : nullptr));
    if (!F.hasOptNone())
      for (BasicBlock &Block : F)
        joinSinesAndCosines(Block);
  }

private:
  Function &F;
  Module &M;
  TargetLibraryInfo Library;

  /// The code generator would make an instruction of it, if it found the name. Where errno counts,
  /// the optimiser has left such a call and another one for the errno.
  bool isSquareRoot(const CallInst &Call) const {
    LibFunc Which;
    return Library.getLibFunc(Call, Which) && Library.has(Which) &&
           (Which == LibFunc_sqrt || Which == LibFunc_sqrtf) && Call.onlyReadsMemory() &&
           !Call.isStrictFP();
  }

  /// One call of `sincos` gives the sine and the cosine of a number, as the code generator has it
  /// of each block where it finds the names.
  void joinSinesAndCosines(BasicBlock &Block) {
    struct Calls {
      SmallVector<CallInst *, 2> Sines, Cosines;
    };
    MapVector<Value *, Calls> ByOperand;
    for (Instruction &I : Block) {
      auto *Call = dyn_cast<CallInst>(&I);
      LibFunc Which;
      if (!Call || !Call->doesNotAccessMemory() || Call->isStrictFP() ||
          !Library.getLibFunc(*Call, Which) || !Library.has(Which))
        continue;
      if (Which == LibFunc_sin || Which == LibFunc_sinf)
        ByOperand[Call->getArgOperand(0)].Sines.push_back(Call);
      else if (Which == LibFunc_cos || Which == LibFunc_cosf)
        ByOperand[Call->getArgOperand(0)].Cosines.push_back(Call);
    }
    for (auto &[Of, Found] : ByOperand) {
      if (Found.Sines.empty() || Found.Cosines.empty())
        continue;
      CallInst *Sine = Found.Sines.front(), *Cosine = Found.Cosines.front();
      // `Of` may have been a sine that is replaced by now.
      Value *Operand = Sine->getArgOperand(0);
      Type *Number = Operand->getType();
      IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
      Value *SineSlot = Entry.CreateAlloca(Number), *CosineSlot = Entry.CreateAlloca(Number);
      IRBuilder<> B(Sine->comesBefore(Cosine) ? Sine : Cosine);
      FunctionCallee Callee = M.getOrInsertFunction(
          withSuffix("sincos", Number),
          FunctionType::get(B.getVoidTy(), {Number, B.getPtrTy(), B.getPtrTy()}, false));
      B.CreateCall(Callee, {Operand, SineSlot, CosineSlot})->setDoesNotThrow();
      Value *SineOut = B.CreateLoad(Number, SineSlot);
      Value *CosineOut = B.CreateLoad(Number, CosineSlot);
      for (CallInst *Call : Found.Sines)
        replace(*Call, SineOut);
      for (CallInst *Call : Found.Cosines)
        replace(*Call, CosineOut);
    }
  }

  void lower(IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::fmuladd:
    case Intrinsic::experimental_constrained_fmuladd:
      return lowerMulAdd(I, /*Fused=*/false);
    case Intrinsic::frexp: {
      IRBuilder<> B(&I);
      return lowerFrexp(I, B);
    }
    default:
      break;
    }
    auto *Strict = dyn_cast<ConstrainedFPIntrinsic>(&I);
    StringRef Name = libraryFunction(I.getIntrinsicID(), Strict);
    if (Name.empty())
      return;
    unsigned Count = Strict ? Strict->getNonMetadataArgCount() : I.arg_size();
    replaceByLibrary(I, Name, SmallVector<Value *>(I.arg_begin(), I.arg_begin() + Count), !Strict);
  }

  static void replace(Instruction &I, Value *By) {
    I.replaceAllUsesWith(By);
    I.eraseFromParent();
  }

  Value *callLibrary(IRBuilder<> &B, StringRef Base, Type *Result, ArrayRef<Value *> Operands,
                     bool Pure) {
    // The library has none for half precision; `float` has twice the digits and two more.
    Type *Half = Operands[0]->getType();
    if (Half->isHalfTy() || Half->isBFloatTy()) {
      SmallVector<Value *> Wider;
      for (Value *V : Operands)
        Wider.push_back(V->getType() == Half ? B.CreateFPExt(V, B.getFloatTy()) : V);
      bool Same = Result == Half;
      Value *Out = callLibrary(B, Base, Same ? B.getFloatTy() : Result, Wider, Pure);
      return Same ? B.CreateFPTrunc(Out, Half) : Out;
    }
    SmallVector<Type *> Types;
    for (Value *V : Operands)
      Types.push_back(V->getType());
    FunctionCallee Callee =
        M.getOrInsertFunction(withSuffix(Base, Types[0]), FunctionType::get(Result, Types, false));
    CallInst *Out = B.CreateCall(Callee, Operands);
    Out->setDoesNotThrow();
    if (Pure) {
      Out->setDoesNotAccessMemory();
      Out->addFnAttr(Attribute::WillReturn);
    } else if (F.hasFnAttribute(Attribute::StrictFP)) {
      Out->addFnAttr(Attribute::StrictFP);
    }
    return Out;
  }

  void replaceByLibrary(Instruction &I, StringRef Base, ArrayRef<Value *> Operands, bool Pure) {
    IRBuilder<> B(&I);
    auto *Vector = dyn_cast<FixedVectorType>(I.getType());
    if (!Vector)
      return replace(I, callLibrary(B, Base, I.getType(), Operands, Pure));
    Value *Out = PoisonValue::get(Vector);
    for (unsigned Lane = 0; Lane < Vector->getNumElements(); ++Lane) {
      SmallVector<Value *> Scalars;
      for (Value *V : Operands)
        Scalars.push_back(V->getType()->isVectorTy() ? B.CreateExtractElement(V, Lane) : V);
      Out = B.CreateInsertElement(
          Out, callLibrary(B, Base, Vector->getElementType(), Scalars, Pure), Lane);
    }
    replace(I, Out);
  }

  void lowerFrexp(IntrinsicInst &I, IRBuilder<> &B) {
    auto *Result = cast<StructType>(I.getType());
    Type *Fraction = Result->getElementType(0), *Exponent = Result->getElementType(1);
    if (Fraction->isVectorTy())
      return; // the code generator takes it apart
    IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
    Value *Slot = Entry.CreateAlloca(Exponent);
    Value *Out = B.CreateInsertValue(
        PoisonValue::get(Result),
        callLibrary(B, "frexp", Fraction, {I.getArgOperand(0), Slot}, false), 0);
    replace(I, B.CreateInsertValue(Out, B.CreateLoad(Exponent, Slot), 1));
  }
};

} // namespace

void lowerBody(Function &F) { Lowering(F).run(); }

void lowerArithmetic(Function &F, const TargetLibraryInfoImpl &Library) {
  Arithmetic(F, Library).run();
}

/// Replaces the uses of V in code by what Make computes there.
static void replaceInCode(GlobalVariable &V, function_ref<Value *(IRBuilder<> &)> Make) {
  convertUsersOfConstantsToInstructions({&V});
  V.removeDeadConstantUsers();
  SmallSetVector<Instruction *, 8> Users;
  for (User *U : V.users())
    if (auto *I = dyn_cast<Instruction>(U))
      Users.insert(I);
  for (Instruction *I : Users) {
    if (auto *Phi = dyn_cast<PHINode>(I)) {
      // Edges from one block must agree.
      DenseMap<BasicBlock *, Value *> Made;
      for (unsigned K = 0; K < Phi->getNumIncomingValues(); ++K) {
        if (Phi->getIncomingValue(K) != &V)
          continue;
        Value *&New = Made[Phi->getIncomingBlock(K)];
        IRBuilder<> B(Phi->getIncomingBlock(K)->getTerminator());
        if (!New)
          New = Make(B);
        Phi->setIncomingValue(K, New);
      }
      continue;
    }
    IRBuilder<> B(I);
    auto *Intrinsic = dyn_cast<IntrinsicInst>(I);
    if (Intrinsic && Intrinsic->getIntrinsicID() == Intrinsic::threadlocal_address) {
      I->replaceAllUsesWith(Make(B));
      I->eraseFromParent();
    } else {
      I->replaceUsesOfWith(&V, Make(B));
    }
  }
}

void lowerThreadLocals(Module &N, function_ref<std::string(GlobalVariable &)> NameOf) {
  SmallVector<GlobalVariable *> Variables;
  for (GlobalVariable &V : N.globals())
    if (V.isThreadLocal() && !V.use_empty())
      Variables.push_back(&V);
  auto *Pointer = PointerType::get(N.getContext(), 0);
  for (GlobalVariable *V : Variables) {
    FunctionCallee Accessor = N.getOrInsertFunction(NameOf(*V), FunctionType::get(Pointer, false));
    replaceInCode(*V, [&](IRBuilder<> &B) {
      // A function runs in one thread, so the address does not change under it.
      CallInst *Call = B.CreateCall(Accessor);
      Call->setDoesNotAccessMemory();
      Call->setDoesNotThrow();
      Call->addFnAttr(Attribute::WillReturn);
      return Call;
    });
  }
}

} // namespace flick
