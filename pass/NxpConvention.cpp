// The convention between NxP functions where LLVM's own for RV64 does not suit the crossing:
// vectors, 128-bit integers and half precision travel as `nxpTypesOf` says; a variadic function
// gets a `va_list` of the host's layout in t2.
#include "Calls.h"
#include "NxpHalf.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace flick {
namespace {

// System V x86-64 psABI 3.5.7.
constexpr unsigned HostInts = 6, HostFloats = 8;
constexpr uint64_t SaveAreaSize = 8 * HostInts + 16 * HostFloats, VaListSize = 24;

bool isElementOnly(Type *T) {
  auto *Vector = dyn_cast<FixedVectorType>(T);
  return Vector && Vector->getNumElements() == 1;
}

bool travelsAsItIs(Type *T) {
  auto Types = nxpTypesOf(T);
  return Types.size() == 1 && Types[0] == T;
}

/// The vector of which T is the beginning, as large as the class says.
FixedVectorType *wholeVector(Type *T) {
  auto *Vector = cast<FixedVectorType>(T);
  return FixedVectorType::get(Vector->getElementType(), PowerOf2Ceil(Vector->getNumElements()));
}

Value *resize(IRBuilder<> &B, Value *V, FixedVectorType *To) {
  if (V->getType() == To)
    return V;
  unsigned Have = cast<FixedVectorType>(V->getType())->getNumElements();
  SmallVector<int> Mask;
  for (unsigned I = 0; I < To->getNumElements(); ++I)
    Mask.push_back(I < Have ? static_cast<int>(I) : PoisonMaskElem);
  return B.CreateShuffleVector(V, Mask);
}

/// V as values of `nxpTypesOf` its type.
void split(IRBuilder<> &B, Value *V, SmallVectorImpl<Value *> &Out) {
  Type *T = V->getType();
  if (travelsAsItIs(T)) {
    Out.push_back(V);
    return;
  }
  if (isElementOnly(T))
    return split(B, B.CreateExtractElement(V, uint64_t(0)), Out);
  switch (classOf(T)) {
  case 'x':
    Out.push_back(B.CreateTrunc(V, B.getInt64Ty()));
    Out.push_back(B.CreateTrunc(B.CreateLShr(V, 64), B.getInt64Ty()));
    return;
  case 'V': {
    Value *Words =
        B.CreateBitCast(resize(B, V, wholeVector(T)), FixedVectorType::get(B.getInt64Ty(), 2));
    Out.push_back(B.CreateExtractElement(Words, uint64_t(0)));
    Out.push_back(B.CreateExtractElement(Words, uint64_t(1)));
    return;
  }
  case 'f': // half precision
    Out.push_back(B.CreateBitCast(B.CreateZExt(B.CreateBitCast(V, B.getInt16Ty()), B.getInt32Ty()),
                                  B.getFloatTy()));
    return;
  default:
    Out.push_back(B.CreateBitCast(resize(B, V, wholeVector(T)), nxpTypesOf(T)[0]));
  }
}

/// The T of which Parts are what `split` makes.
Value *join(IRBuilder<> &B, Type *T, ArrayRef<Value *> Parts) {
  if (travelsAsItIs(T))
    return Parts[0];
  if (isElementOnly(T)) {
    Value *Element = join(B, cast<FixedVectorType>(T)->getElementType(), Parts);
    return B.CreateInsertElement(PoisonValue::get(T), Element, uint64_t(0));
  }
  switch (classOf(T)) {
  case 'x':
    return B.CreateOr(B.CreateZExt(Parts[0], T), B.CreateShl(B.CreateZExt(Parts[1], T), 64));
  case 'V': {
    Value *Words = PoisonValue::get(FixedVectorType::get(B.getInt64Ty(), 2));
    for (uint64_t I : {0, 1})
      Words = B.CreateInsertElement(Words, Parts[I], I);
    return resize(B, B.CreateBitCast(Words, wholeVector(T)), cast<FixedVectorType>(T));
  }
  case 'f':
    return B.CreateBitCast(B.CreateTrunc(B.CreateBitCast(Parts[0], B.getInt32Ty()), B.getInt16Ty()),
                           T);
  default:
    return resize(B, B.CreateBitCast(Parts[0], wholeVector(T)), cast<FixedVectorType>(T));
  }
}

/// T as it is returned in the NxP half.
Type *resultOf(Type *T) {
  if (T->isVoidTy() || classesOfResult(T).empty())
    return T;
  auto *Struct = dyn_cast<StructType>(T);
  if (!Struct) {
    auto Types = nxpTypesOf(T);
    return Types.size() == 1 ? Types[0] : StructType::get(T->getContext(), Types);
  }
  if (all_of(Struct->elements(), travelsAsItIs))
    return T;
  SmallVector<Type *> Types;
  for (Type *Part : Struct->elements())
    append_range(Types, nxpTypesOf(Part));
  return StructType::get(T->getContext(), Types);
}

Value *splitResult(IRBuilder<> &B, Value *V) {
  Type *To = resultOf(V->getType());
  SmallVector<Value *> Parts;
  if (auto *Struct = dyn_cast<StructType>(V->getType()))
    for (unsigned I = 0; I < Struct->getNumElements(); ++I)
      split(B, B.CreateExtractValue(V, I), Parts);
  else
    split(B, V, Parts);
  if (!To->isStructTy())
    return Parts[0];
  Value *Out = PoisonValue::get(To);
  for (unsigned I = 0; I < Parts.size(); ++I)
    Out = B.CreateInsertValue(Out, Parts[I], I);
  return Out;
}

Value *joinResult(IRBuilder<> &B, Type *T, Value *V) {
  SmallVector<Value *> Parts;
  if (auto *Struct = dyn_cast<StructType>(V->getType()))
    for (unsigned I = 0; I < Struct->getNumElements(); ++I)
      Parts.push_back(B.CreateExtractValue(V, I));
  else
    Parts.push_back(V);
  auto *Struct = dyn_cast<StructType>(T);
  if (!Struct)
    return join(B, T, Parts);
  Value *Out = PoisonValue::get(T);
  for (unsigned I = 0; I < Struct->getNumElements(); ++I) // each part is one value there
    Out = B.CreateInsertValue(Out, join(B, Struct->getElementType(I), Parts[I]), I);
  return Out;
}

/// Where the host has an argument of a variadic call: in the register save area, or on the stack.
struct Place {
  bool Saved;
  uint64_t At;
};

class HostPlaces {
public:
  unsigned Ints = 0, Floats = 0;
  uint64_t Bytes = 0;
  Align Max = Align(16);

  Place next(const CallBase &Call, unsigned I, const DataLayout &Layout) {
    if (Call.isByValArgument(I)) {
      Type *Memory = Call.getParamByValType(I);
      return stack(Layout.getTypeAllocSize(Memory).getFixedValue(),
                   Call.getParamAlign(I).value_or(Layout.getABITypeAlign(Memory)));
    }
    switch (classOf(Call.getArgOperand(I)->getType())) {
    case 'f':
    case 'd':
      return Floats < HostFloats ? floating() : stack(8, Align(8));
    case 'g':
    case 'e':
    case 'V':
      return Floats < HostFloats ? floating() : stack(16, Align(16));
    case 'x':
      if (Ints + 2 > HostInts) {
        Ints = HostInts;
        return stack(16, Align(16));
      }
      Ints += 2;
      return {true, 8 * (Ints - 2)};
    default:
      return Ints < HostInts ? Place{true, 8 * Ints++} : stack(8, Align(8));
    }
  }

private:
  Place floating() { return {true, 8 * HostInts + 16 * Floats++}; }

  Place stack(uint64_t Size, Align A) {
    Max = std::max(Max, A);
    uint64_t At = alignTo(Bytes, std::max(A, Align(8)));
    Bytes = alignTo(At + Size, 8);
    return {false, At};
  }
};

class Convention {
public:
  explicit Convention(Module &N) : N(N), Ctx(N.getContext()), Pointer(PointerType::get(Ctx, 0)) {}

  SetVector<Function *> run() {
    SmallVector<Function *> Functions;
    for (Function &F : N)
      if (!F.isIntrinsic() && (hasList(F) || differs(*F.getFunctionType())))
        Functions.push_back(&F);
    for (Function *F : Functions)
      replace(*F);
    SmallVector<CallBase *> Calls;
    for (Function &F : N)
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallBase>(&I); Call && isRealCall(*Call) && differs(*Call))
          Calls.push_back(Call);
    for (CallBase *Call : Calls) {
      Changed.insert(Call->getFunction());
      replace(*Call);
    }
    return std::move(Changed);
  }

private:
  Module &N;
  LLVMContext &Ctx;
  PointerType *Pointer;
  /// Functions that get a `va_list`, with the types that they had.
  DenseMap<const Value *, FunctionType *> Lists;
  SetVector<Function *> Changed;

  static bool hasList(const Function &F) { return F.isVarArg() && !F.isDeclaration(); }

  static bool differs(const FunctionType &T) {
    return resultOf(T.getReturnType()) != T.getReturnType() || !all_of(T.params(), travelsAsItIs);
  }

  bool differs(const CallBase &Call) const {
    return Lists.contains(Call.getCalledOperand()) || differs(*Call.getFunctionType()) ||
           !all_of(Call.args(), [](const Use &Op) { return travelsAsItIs(Op->getType()); });
  }

  /// The type of a function or call whose arguments are of these types.
  FunctionType *typeOf(Type *Result, ArrayRef<Type *> Arguments, bool List, bool Dots) {
    SmallVector<Type *> Types;
    if (List)
      Types.push_back(Pointer);
    for (Type *T : Arguments)
      append_range(Types, nxpTypesOf(T));
    return FunctionType::get(resultOf(Result), Types, Dots);
  }

  AttributeList attributesOf(const AttributeList &Old, Type *Result, ArrayRef<Type *> Arguments,
                             bool List) {
    AttrBuilder Fn(Ctx, Old.getFnAttrs());
    Fn.removeAttribute(Attribute::AllocSize); // it counts parameters
    SmallVector<AttributeSet> Parameters;
    if (List) {
      Fn.removeAttribute(Attribute::Memory); // the list and what it leads to are read
      AttrBuilder Nest(Ctx);
      Nest.addAttribute(Attribute::Nest);
      Parameters.push_back(AttributeSet::get(Ctx, Nest));
    }
    for (unsigned I = 0; I < Arguments.size(); ++I)
      if (travelsAsItIs(Arguments[I]))
        Parameters.push_back(Old.getParamAttrs(I));
      else
        Parameters.append(nxpTypesOf(Arguments[I]).size(), AttributeSet());
    bool SameResult = resultOf(Result) == Result;
    return AttributeList::get(Ctx, AttributeSet::get(Ctx, Fn),
                              SameResult ? Old.getRetAttrs() : AttributeSet(), Parameters);
  }

  void replace(Function &F) {
    FunctionType *Old = F.getFunctionType();
    bool List = hasList(F);
    auto *New = Function::Create(
        typeOf(Old->getReturnType(), Old->params(), List, Old->isVarArg() && !List), F.getLinkage(),
        F.getAddressSpace());
    New->copyAttributesFrom(&F);
    New->setAttributes(attributesOf(F.getAttributes(), Old->getReturnType(), Old->params(), List));
    New->setComdat(F.getComdat());
    New->setIsNewDbgInfoFormat(F.IsNewDbgInfoFormat);
    N.getFunctionList().insert(F.getIterator(), New);
    New->takeName(&F);
    New->copyMetadata(&F, 0);
    if (List)
      Lists[New] = Old;
    if (!F.isDeclaration()) {
      Changed.insert(New);
      New->splice(New->begin(), &F);
      takeArguments(F, *New, List);
      if (resultOf(Old->getReturnType()) != Old->getReturnType())
        for (BasicBlock &Block : *New)
          if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator())) {
            IRBuilder<> B(Return);
            B.CreateRet(splitResult(B, Return->getReturnValue()));
            Return->eraseFromParent();
          }
    }
    F.replaceAllUsesWith(New);
    F.eraseFromParent();
  }

  static void takeArguments(Function &Old, Function &New, bool List) {
    IRBuilder<> B(&New.getEntryBlock(), New.getEntryBlock().getFirstInsertionPt());
    Argument *Next = New.arg_begin();
    if (List)
      Next++->setName("list");
    for (Argument &A : Old.args()) {
      if (travelsAsItIs(A.getType())) {
        Next->takeName(&A);
        A.replaceAllUsesWith(Next++);
        continue;
      }
      SmallVector<Value *> Parts;
      for (unsigned Count = nxpTypesOf(A.getType()).size(); Count != 0; --Count)
        Parts.push_back(Next++);
      A.replaceAllUsesWith(join(B, A.getType(), Parts));
    }
    if (!List)
      return;
    for (Instruction &I : make_early_inc_range(instructions(New)))
      if (auto *Start = dyn_cast<VAStartInst>(&I)) {
        B.SetInsertPoint(Start);
        B.CreateMemCpy(Start->getArgList(), Align(8), New.getArg(0), Align(8), VaListSize);
        Start->eraseFromParent();
      }
  }

  void replace(CallBase &Call) {
    Value *Callee = Call.getCalledOperand();
    FunctionType *Known = Lists.lookup(Callee);
    IRBuilder<> B(&Call);
    SmallVector<Value *> Arguments;
    AllocaInst *Area = nullptr;
    if (Known && Call.isMustTailCall())
      Arguments.push_back(Call.getFunction()->getArg(0)); // hands on what it got
    else if (Known)
      Arguments.push_back(makeList(B, Call, Known->getNumParams(), Area));
    SmallVector<Type *> Old;
    for (const Use &Op : Call.args()) {
      if (Known && Old.size() == Known->getNumParams())
        break;
      Old.push_back(Op->getType());
      split(B, Op, Arguments);
    }
    bool Dots = Call.getFunctionType()->isVarArg() && !Known;
    ArrayRef<Type *> Named(Old);
    if (Dots)
      Named = Named.take_front(Call.getFunctionType()->getNumParams());
    FunctionType *New = typeOf(Call.getType(), Named, Known, Dots);
    CallBase *Made = create(Call, New, Callee, Arguments);
    if (Area)
      if (auto *Plain = dyn_cast<CallInst>(Made)) {
        Plain->setTailCallKind(CallInst::TCK_None); // the area is in this frame
        B.CreateLifetimeEnd(Area);
      }
    Made->setAttributes(attributesOf(Call.getAttributes(), Call.getType(), Old, Known));
    Made->setCallingConv(Call.getCallingConv());
    Made->copyMetadata(Call);
    if (Made->getType() == Call.getType()) {
      if (isa<FPMathOperator>(Made))
        Made->copyFastMathFlags(&Call);
      Made->takeName(&Call);
      Call.replaceAllUsesWith(Made);
    } else {
      if (auto *Invoke = dyn_cast<InvokeInst>(Made))
        B.SetInsertPoint(&*Invoke->getNormalDest()->getFirstInsertionPt());
      Call.replaceAllUsesWith(joinResult(B, Call.getType(), Made));
    }
    Call.eraseFromParent();
  }

  static CallBase *create(CallBase &Call, FunctionType *Type, Value *Callee,
                          ArrayRef<Value *> Arguments) {
    auto *Invoke = dyn_cast<InvokeInst>(&Call);
    if (!Invoke) {
      auto *New = CallInst::Create(Type, Callee, Arguments, "", Call.getIterator());
      auto Kind = cast<CallInst>(Call).getTailCallKind();
      New->setTailCallKind(Kind == CallInst::TCK_MustTail ? CallInst::TCK_Tail : Kind);
      return New;
    }
    // The result is put together in a block of the call's own.
    BasicBlock *Normal = Invoke->getNormalDest();
    if (resultOf(Call.getType()) != Call.getType())
      Normal = SplitEdge(Invoke->getParent(), Normal);
    return InvokeInst::Create(Type, Callee, Normal, Invoke->getUnwindDest(), Arguments, "",
                              Call.getIterator());
  }

  /// The `va_list` of a call whose callee's type is known: what the host's `va_start` would make of
  /// the host's registers and stack, which are written to Area.
  Value *makeList(IRBuilder<> &B, CallBase &Call, unsigned Fixed, AllocaInst *&Area) {
    const DataLayout &Layout = N.getDataLayout();
    HostPlaces Next;
    for (unsigned I = 0; I < Fixed; ++I)
      Next.next(Call, I, Layout);
    uint64_t Offsets = 8 * Next.Ints | uint64_t(8 * HostInts + 16 * Next.Floats) << 32;
    Next.Bytes = 0; // only arguments behind the fixed ones are read from there
    SmallVector<Place> Places;
    for (unsigned I = Fixed; I < Call.arg_size(); ++I)
      Places.push_back(Next.next(Call, I, Layout));

    uint64_t Overflow = alignTo(SaveAreaSize + VaListSize, Next.Max);
    IRBuilder<> Entry(&*Call.getFunction()->getEntryBlock().getFirstInsertionPt());
    Area = Entry.CreateAlloca(ArrayType::get(B.getInt8Ty(), Overflow + Next.Bytes));
    Area->setAlignment(Next.Max);
    B.CreateLifetimeStart(Area);
    auto At = [&](uint64_t Offset) { return B.CreateConstGEP1_64(B.getInt8Ty(), Area, Offset); };
    for (unsigned I = Fixed; I < Call.arg_size(); ++I) {
      Place P = Places[I - Fixed];
      Value *To = At(P.Saved ? P.At : Overflow + P.At), *V = Call.getArgOperand(I);
      if (Call.isByValArgument(I))
        B.CreateMemCpy(To, Align(8), V, Call.getParamAlign(I),
                       Layout.getTypeAllocSize(Call.getParamByValType(I)).getFixedValue());
      else
        B.CreateAlignedStore(V, To, Align(8));
    }
    B.CreateAlignedStore(B.getInt64(Offsets), At(SaveAreaSize), Align(8));
    B.CreateAlignedStore(At(Overflow), At(SaveAreaSize + 8), Align(8));
    B.CreateAlignedStore(Area, At(SaveAreaSize + 16), Align(8));
    return At(SaveAreaSize);
  }
};

} // namespace

SetVector<Function *> adoptConvention(Module &N) { return Convention(N).run(); }

} // namespace flick
