#include "Requests.h"
#include "Diagnostics.h"
#include "Placement.h"
#include "flick_abi.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace flick {
namespace {

constexpr StringLiteral MarkOn = "flick.on@";

/// An array of a request.
struct Array {
  Argument *At;
  /// Bytes, or the parameter that says how many.
  uint64_t Size;
  Argument *SizeIn;
};

struct Request {
  Function *F;
  std::string Accelerator;
  SourcePlace Place;
  SmallVector<Array> Arrays;
};

bool refuse(const Request &R, const Twine &Why, StringRef Help) {
  report(*R.F->getParent(), R.Place,
         "[" FLICK_CODE_NO_REQUEST "] '" + shownName(*R.F) +
             "' cannot be a request to an accelerator: " + Why + "; " + Help);
  return false;
}

std::string shownParameter(const Argument &A) {
  std::string Number = "parameter " + std::to_string(A.getArgNo() + 1);
  return A.hasName() ? Number + " ('" + A.getName().str() + "')" : Number;
}

/// Maps the parameters.
bool mapArrays(Request &R) {
  Function &F = *R.F;
  const char *Arrays = "name each array as T name[static N], or as a pointer and its bytes";
  if (F.isVarArg())
    return refuse(R, "it has further arguments (...)", "give it arrays alone");
  Type *Result = F.getReturnType();
  if (!Result->isVoidTy() && !Result->isIntegerTy(32))
    return refuse(R, "it returns a value", "return nothing, or int for 0 or an errno");
  for (auto A = F.arg_begin(); A != F.arg_end(); ++A) {
    if (!A->getType()->isPointerTy())
      return refuse(R, shownParameter(*A) + " is no array", Arrays);
    if (A->hasPassPointeeByValueCopyAttr() || A->hasStructRetAttr())
      return refuse(R, shownParameter(*A) + " is a structure", "pass it as an array of one");
    Array Next = {&*A, A->getDereferenceableBytes(), nullptr};
    if (!Next.Size) {
      auto SizeIn = std::next(A);
      bool HasSize = SizeIn != F.arg_end() &&
                     (SizeIn->getType()->isIntegerTy(64) || SizeIn->getType()->isIntegerTy(32));
      if (!HasSize)
        return refuse(R, shownParameter(*A) + " is a pointer without a size", Arrays);
      Next.SizeIn = &*SizeIn;
      A = SizeIn;
    }
    R.Arrays.push_back(Next);
  }
  if (R.Arrays.empty())
    return refuse(R, "it has no array", Arrays);
  if (R.Arrays.size() > FLICK_ON_ARRAYS)
    return refuse(R, "it has more than " + Twine(FLICK_ON_ARRAYS) + " arrays",
                  "put some of them into one");
  if (any_of(F, [](const BasicBlock &B) { return B.hasAddressTaken(); }))
    return refuse(R, "its body uses addresses of labels", "put the body into another function");
  return true;
}

/// Has each array a size?
bool saysSizes(Function &F) {
  for (auto A = F.arg_begin(); A != F.arg_end(); ++A) {
    if (!A->getType()->isPointerTy() || A->getDereferenceableBytes())
      continue;
    auto Next = std::next(A);
    if (Next == F.arg_end() || !Next->getType()->isIntegerTy())
      return false;
  }
  return true;
}

/// The function's own body as another function.
Function *moveBody(Function &F) {
  Function *Body = Function::Create(F.getFunctionType(), GlobalValue::InternalLinkage,
                                    F.getAddressSpace(), F.getName() + ".flick.body");
  F.getParent()->getFunctionList().insertAfter(F.getIterator(), Body);
  Body->copyAttributesFrom(&F);
  Body->setVisibility(GlobalValue::DefaultVisibility);
  Body->setDSOLocal(true);
  Body->splice(Body->end(), &F);
  for (auto [From, To] : zip(F.args(), Body->args())) {
    To.setName(From.getName());
    From.replaceAllUsesWith(&To);
  }
  Body->setSubprogram(F.getSubprogram());
  F.setSubprogram(nullptr);
  F.setPersonalityFn(nullptr);
  return Body;
}

void makeBody(const Request &R) {
  Function &F = *R.F;
  Module &M = *F.getParent();
  bool Returns = !F.getReturnType()->isVoidTy();
  Function *Body = nullptr;
  if (F.isDeclaration())
    // Another unit may have the function with a body.
    F.setLinkage(GlobalValue::WeakAnyLinkage);
  else
    Body = moveBody(F);
  IRBuilder<> Builder(BasicBlock::Create(M.getContext(), "", &F));
  Type *Word = Builder.getInt64Ty(), *Pointer = Builder.getPtrTy(), *Int = Builder.getInt32Ty();
  auto *Record = StructType::get(Pointer, Word);
  Value *Count = Builder.getInt64(R.Arrays.size());
  Value *Records = Builder.CreateAlloca(ArrayType::get(Record, R.Arrays.size()));
  for (auto [N, A] : enumerate(R.Arrays)) {
    Value *Place = Builder.CreateConstInBoundsGEP1_64(Record, Records, N);
    Value *Size = A.SizeIn ? Builder.CreateZExt(A.SizeIn, Word) : Builder.getInt64(A.Size);
    Builder.CreateStore(A.At, Builder.CreateStructGEP(Record, Place, 0));
    Builder.CreateStore(Size, Builder.CreateStructGEP(Record, Place, 1));
  }
  unsigned Flags = (Body ? FLICK_ON_HAS_BODY : 0) | (Returns ? FLICK_ON_RETURNS : 0);
  FunctionCallee Call =
      M.getOrInsertFunction(FLICK_ON_CALL, Int, Pointer, Pointer, Int, Word, Pointer);
  Value *Outcome = Builder.CreateCall(Call, {Builder.CreateGlobalString(R.Accelerator),
                                             Builder.CreateGlobalString(shownName(F)),
                                             Builder.getInt32(Flags), Count, Records});
  if (Body) {
    auto *Own = BasicBlock::Create(M.getContext(), "", &F);
    auto *Done = BasicBlock::Create(M.getContext(), "", &F);
    Builder.CreateCondBr(Builder.CreateICmpEQ(Outcome, Builder.getInt32(FLICK_ON_BODY)), Own, Done);
    Builder.SetInsertPoint(Own);
    SmallVector<Value *> Arguments;
    for (Argument &A : F.args())
      Arguments.push_back(&A);
    CallInst *Inner = Builder.CreateCall(Body, Arguments);
    Inner->setCallingConv(Body->getCallingConv());
    Returns ? Builder.CreateRet(Inner) : Builder.CreateRetVoid();
    Builder.SetInsertPoint(Done);
  }
  Returns ? Builder.CreateRet(Outcome) : Builder.CreateRetVoid();
}

} // namespace

RequestsMade makeRequests(Module &M) {
  MapVector<Function *, Request> All;
  bool Good = true;
  eachAnnotation(M, [&](GlobalValue *V, StringRef Text, const SourcePlace &Place) {
    // Placement reports marks on others.
    auto *F = dyn_cast<Function>(V);
    if (!F || !Text.consume_front(MarkOn) || F->hasAvailableExternallyLinkage())
      return;
    Request &R = All[F];
    if (!R.F)
      R = {F, Text.str(), Place, {}};
    else if (R.Accelerator != Text)
      Good = refuse(R, "it has two marks, for " + R.Accelerator + " and " + Text, "keep one");
  });
  // Clang says no sizes of arrays of a declaration. It stays one: the unit with the body has the
  // request.
  bool HasLeft = false;
  for (auto At = All.begin(); At != All.end();) {
    bool IsLeft = At->first->isDeclaration() && !saysSizes(*At->first);
    HasLeft |= IsLeft;
    At = IsLeft ? All.erase(At) : std::next(At);
  }
  for (auto &[F, R] : All) {
    if (R.Accelerator.empty() || R.Accelerator.size() > 32)
      Good = refuse(R, "the name of its accelerator has no byte, or more than 32",
                    "name an accelerator of the machine");
    else
      Good &= mapArrays(R);
  }
  if (!Good)
    return RequestsMade::Failed;
  for (auto &[F, R] : All)
    makeBody(R);
  return All.empty() && !HasLeft ? RequestsMade::None : RequestsMade::Some;
}

} // namespace flick
