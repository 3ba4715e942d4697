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

/// One argument or result part, or 0 if the crossing cannot carry it.
char classOf(Type *T) {
  if (auto *I = dyn_cast<IntegerType>(T)) {
    unsigned Bits = I->getBitWidth();
    return Bits == 1    ? 'b'
           : Bits <= 8  ? 'c'
           : Bits <= 16 ? 's'
           : Bits <= 32 ? 'i'
           : Bits <= 64 ? 'l'
                        : 0;
  }
  if (T->isPointerTy())
    return T->getPointerAddressSpace() == 0 ? 'p' : 0;
  return T->isFloatTy() ? 'f' : T->isDoubleTy() ? 'd' : 0;
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

Signature describe(const Shape &S) {
  Signature Out;
  bool FloatResult = false, FloatArgument = false, InMemory = false, Sret = false;
  std::string Text = "1";
  Type *Ret = S.Type->getReturnType();
  if (Ret->isVoidTy()) {
    Text += 'v';
  } else if (char C = classOf(Ret)) {
    Text += C;
    FloatResult = C == 'f';
  } else {
    auto *Parts = dyn_cast<StructType>(Ret);
    bool Covered = Parts && (Parts->getNumElements() == 1 || Parts->getNumElements() == 2);
    std::string Inner;
    if (Covered)
      for (Type *Part : Parts->elements()) {
        char P = classOf(Part);
        Covered = Covered && P;
        FloatResult |= P == 'f';
        Inner += P;
      }
    if (!Covered) {
      Out.Why = "a result of type " + spell(Ret);
      return Out;
    }
    Text += '{' + Inner + '}';
  }

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
    FloatArgument |= C == 'f';
    ++(C == 'f' || C == 'd' ? Floats : Ints);
  }
  if (S.Type->isVarArg() && S.Count == S.Type->getNumParams())
    Text += '.';
  Text += ')';

  bool InRegisters = Ints <= 6 && Floats <= 8 && !InMemory && !S.Type->isVarArg();
  Out.Text = std::move(Text);
  Out.PlainDefinition = InRegisters && !FloatArgument && !Sret;
  Out.PlainCall = InRegisters && !FloatResult;
  return Out;
}

} // namespace

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
