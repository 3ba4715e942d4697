#include "Signature.h"

#include "llvm/IR/Attributes.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace flick {
namespace {

std::string spell(Type *T) {
  std::string Text;
  raw_string_ostream(Text) << *T;
  return Text;
}

/// The class of a vector that x86-64 has in one vector register.
char classOfVector(FixedVectorType *T) {
  Type *Element = T->getElementType();
  bool Floating =
      Element->isHalfTy() || Element->isBFloatTy() || Element->isFloatTy() || Element->isDoubleTy();
  unsigned Bits = Element->getPrimitiveSizeInBits();
  if (!Floating && !(Element->isIntegerTy() && Bits >= 8 && Bits <= 64 && isPowerOf2_32(Bits)))
    return 0;
  switch (Bits * PowerOf2Ceil(T->getNumElements())) {
  case 32:
    return Floating ? 'g' : 0;
  case 64:
    return 'e';
  case 128:
    return 'V';
  default:
    return 0;
  }
}

/// Attributes as the code generator sees them at a definition or a call.
struct Shape {
  FunctionType *Type;
  unsigned Count;
  function_ref<llvm::Type *(unsigned)> TypeAt;
  function_ref<bool(unsigned, Attribute::AttrKind)> Has;
  function_ref<llvm::Type *(unsigned)> ByValAt;
  function_ref<MaybeAlign(unsigned)> AlignAt;
  const DataLayout &Layout;
};

/// A `float` register of the NxP has it, which must be NaN-boxed.
bool isBoxed(char Class) { return Class == 'f' || Class == 'g'; }

Signature describe(const Shape &S) {
  Signature Out;
  bool FloatArgument = false, InMemory = false, Sret = false;
  Type *Ret = S.Type->getReturnType();
  std::string Result = classesOfResult(Ret);
  if (Result.empty()) {
    Out.Why = "a result of type " + spell(Ret);
    return Out;
  }
  bool FloatResult = any_of(Result, isBoxed);
  bool Vector = Result == "V";
  std::string Text = "1" + (Result.size() == 1 ? Result : '{' + Result + '}');

  Text += '(';
  unsigned Ints = 0, Floats = 0;
  for (unsigned I = 0; I < S.Count; ++I) {
    if (S.Type->isVarArg() && I == S.Type->getNumParams())
      Text += '.';
    Type *T = S.TypeAt(I);
    for (auto Kind :
         {Attribute::InAlloca, Attribute::Preallocated, Attribute::ByRef, Attribute::SwiftSelf,
          Attribute::SwiftError, Attribute::SwiftAsync, Attribute::Nest})
      if (S.Has(I, Kind)) {
        Out.Why =
            ("argument " + Twine(I + 1) + " (" + Attribute::getNameFromAttrKind(Kind) + ")").str();
        return Out;
      }
    if (S.Has(I, Attribute::ByVal)) {
      Type *Memory = S.ByValAt(I);
      Align A = S.AlignAt(I).value_or(S.Layout.getABITypeAlign(Memory));
      if (A.value() > 4096) {
        Out.Why = ("argument " + Twine(I + 1) + " (aligned to more than a page)").str();
        return Out;
      }
      Text += ("B" + Twine(S.Layout.getTypeAllocSize(Memory).getFixedValue()) + "a" +
               Twine(std::max<uint64_t>(A.value(), 8)))
                  .str();
      InMemory = true;
      continue;
    }
    if (S.Has(I, Attribute::StructRet)) {
      if (I != 0) {
        Out.Why = "a result pointer that is not the first argument";
        return Out;
      }
      Text += 'S';
      Sret = true;
      ++Ints;
      continue;
    }
    char C = classOf(T);
    if (!C) {
      Out.Why = ("argument " + Twine(I + 1) + " of type " + spell(T)).str();
      return Out;
    }
    Text += C;
    FloatArgument |= isBoxed(C);
    Vector |= C == 'V';
    if (StringRef("fdgeV").contains(C))
      ++Floats;
    else
      Ints += C == 'x' ? 2 : 1;
  }
  if (S.Type->isVarArg() && S.Count == S.Type->getNumParams())
    Text += '.';
  Text += ')';

  // Named arguments are in the same places with dots behind them and without, and the crossing sets
  // al for any: a call without a prototype has nothing but these.
  bool BehindDots = S.Count > S.Type->getNumParams();
  bool InRegisters = Ints <= 6 && Floats <= 8 && !InMemory && !Vector && !BehindDots;
  Out.Text = std::move(Text);
  Out.PlainDefinition = InRegisters && !S.Type->isVarArg() && !FloatArgument && !Sret;
  Out.PlainCall = InRegisters && !FloatResult;
  return Out;
}

} // namespace

std::string classesOfResult(Type *T) {
  if (T->isVoidTy())
    return "v";
  if (char C = classOf(T))
    return C == 'x' ? "ll" : std::string(1, C);
  auto *Parts = dyn_cast<StructType>(T);
  if (!Parts || Parts->getNumElements() < 1 || Parts->getNumElements() > 2)
    return "";
  std::string Out;
  for (Type *Part : Parts->elements()) {
    char C = classOf(Part);
    if (!C || C == 'x' || C == 'V')
      return "";
    Out += C;
  }
  return Out;
}

char classOf(Type *T) {
  if (auto *I = dyn_cast<IntegerType>(T)) {
    unsigned Bits = I->getBitWidth();
    return Bits == 1     ? 'b'
           : Bits <= 8   ? 'c'
           : Bits <= 16  ? 's'
           : Bits <= 32  ? 'i'
           : Bits <= 64  ? 'l'
           : Bits == 128 ? 'x'
                         : 0;
  }
  if (T->isPointerTy())
    return T->getPointerAddressSpace() == 0 ? 'p' : 0;
  if (auto *Vector = dyn_cast<FixedVectorType>(T))
    return Vector->getNumElements() == 1 ? classOf(Vector->getElementType())
                                         : classOfVector(Vector);
  if (T->isFloatTy() || T->isHalfTy() || T->isBFloatTy())
    return 'f';
  return T->isDoubleTy() ? 'd' : 0;
}

SmallVector<Type *, 2> nxpTypesOf(Type *T) {
  LLVMContext &Ctx = T->getContext();
  auto *Vector = dyn_cast<FixedVectorType>(T);
  switch (classOf(T)) {
  case 0:
    return {T};
  case 'x':
  case 'V':
    return {Type::getInt64Ty(Ctx), Type::getInt64Ty(Ctx)};
  case 'e':
    return {Type::getDoubleTy(Ctx)};
  case 'f':
  case 'g':
    return {Type::getFloatTy(Ctx)};
  default:
    return {Vector ? Vector->getElementType() : T};
  }
}

Signature signatureOf(const Function &F) {
  return describe({F.getFunctionType(), static_cast<unsigned>(F.arg_size()),
                   [&](unsigned I) { return F.getArg(I)->getType(); },
                   [&](unsigned I, Attribute::AttrKind K) { return F.hasParamAttribute(I, K); },
                   [&](unsigned I) { return F.getParamByValType(I); },
                   [&](unsigned I) { return F.getParamAlign(I); }, F.getDataLayout()});
}

Signature signatureOf(const CallBase &Call) {
  return describe({Call.getFunctionType(), Call.arg_size(),
                   [&](unsigned I) { return Call.getArgOperand(I)->getType(); },
                   [&](unsigned I, Attribute::AttrKind K) { return Call.paramHasAttr(I, K); },
                   [&](unsigned I) { return Call.getParamByValType(I); },
                   [&](unsigned I) { return Call.getParamAlign(I); },
                   Call.getModule()->getDataLayout()});
}

} // namespace flick
