// RISC-V psABI, chapter "Procedure Calling Convention"; LLVM's fastcc begins with the same
// registers. All sets may be too large, none too small: what is not named here does not arrive.
#include "Arity.h"
#include "Calls.h"
#include "flick_abi.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Mangler.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace flick {
namespace {

/// How many registers of each kind values take, at most.
struct Count {
  unsigned Ints = 0, Floats = 0;
  /// A static chain, or what takes its register.
  bool Hidden = false;
  bool Known = true;

  void add(Type *T) {
    if (T->isPointerTy()) {
      Ints += 1;
    } else if (auto *Int = dyn_cast<IntegerType>(T)) {
      // An even register may begin it; what is larger than two goes by its address.
      Ints += Int->getBitWidth() <= 64 ? 1 : 3;
      Known &= Int->getBitWidth() <= 128;
    } else if (T->isFloatTy() || T->isDoubleTy()) {
      Floats += 1;
    } else if (auto *Struct = dyn_cast<StructType>(T)) {
      for (Type *Part : Struct->elements())
        add(Part);
    } else if (auto *Array = dyn_cast<ArrayType>(T); Array && Array->getNumElements() <= 8) {
      for (uint64_t I = 0; I < Array->getNumElements(); ++I)
        add(Array->getElementType());
    } else {
      Known = false;
    }
  }
};

/// Bits 0 to 7: a0 to a7; bits 8 to 15: fa0 to fa7.
uint16_t registers(unsigned Ints, unsigned Floats) {
  auto First = [](unsigned N) { return (1u << std::min(N, 8u)) - 1; };
  return static_cast<uint16_t>(First(Ints) | First(Floats) << 8);
}

uint16_t arguments(const Count &C) {
  return registers(C.Ints + (C.Floats > 8 ? C.Floats - 8 : 0), C.Floats);
}

bool hasUsualConvention(CallingConv::ID Convention, const AttributeList &Attributes) {
  for (Attribute::AttrKind Kind :
       {Attribute::SwiftSelf, Attribute::SwiftError, Attribute::SwiftAsync, Attribute::InAlloca,
        Attribute::Preallocated})
    if (Attributes.hasAttrSomewhere(Kind))
      return false;
  return Convention == CallingConv::C || Convention == CallingConv::Fast;
}

Count parameters(const Function &F) {
  Count All;
  All.Known = hasUsualConvention(F.getCallingConv(), F.getAttributes()) && !F.isVarArg() &&
              !F.hasFnAttribute(Attribute::Naked);
  for (const Argument &A : F.args())
    if (A.hasNestAttr())
      All.Hidden = true;
    else
      All.add(A.getType());
  // LLVM's fastcc has more registers behind these.
  if (F.getCallingConv() == CallingConv::Fast && (All.Ints > 8 || All.Floats > 8))
    All.Known = false;
  return All;
}

/// Bits as `registers`; nothing: results go by their address, or it is not certain.
std::optional<uint16_t> resultRegisters(Type *T) {
  if (T->isVoidTy())
    return 0;
  Count All;
  All.add(T);
  if (!All.Known || All.Ints + All.Floats > 2)
    return std::nullopt;
  return registers(All.Ints, All.Floats);
}

Count handedOver(const CallBase &Call) {
  Count All;
  All.Known = hasUsualConvention(Call.getCallingConv(), Call.getAttributes());
  for (unsigned I = 0; I < Call.arg_size(); ++I)
    if (Call.paramHasAttr(I, Attribute::Nest))
      All.Hidden = true;
    else
      All.add(Call.getArgOperand(I)->getType());
  if (Call.getCallingConv() == CallingConv::Fast && (All.Ints > 8 || All.Floats > 8))
    All.Known = false;
  // A result by its address is one more; variadic ones are all in integer registers.
  All.Ints += resultRegisters(Call.getType()) ? 0 : 1;
  if (Call.getFunctionType()->isVarArg())
    All.Ints += All.Floats;
  return All;
}

/// What the functions without a record that a function calls find set, all together.
class Calls {
public:
  explicit Calls(function_ref<bool(const Function &)> HasRecord) : HasRecord(HasRecord) {}

  uint16_t Set = 0;
  bool Hidden = false;
  bool Known = true;

  void add(const Instruction &I) {
    if (auto *Call = dyn_cast<CallBase>(&I)) {
      if (Call->isInlineAsm())
        Known &= cast<InlineAsm>(Call->getCalledOperand())->getAsmString().empty();
      else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(Call))
        add(*Intrinsic);
      else
        addCall(*Call);
    } else if (isa<ResumeInst>(I)) {
      Set |= registers(1, 0);
    } else if (I.getOpcode() == Instruction::FRem) {
      Set |= registers(2, 2);
    }
    // The code generator may call functions for these.
    auto IsUnusual = [](const Type *T) {
      const Type *S = T->getScalarType();
      bool Usual = S->isVoidTy() || S->isPointerTy() || S->isFloatTy() || S->isDoubleTy() ||
                   S->isLabelTy() || S->isMetadataTy() || S->isTokenTy() || S->isAggregateType() ||
                   (S->isIntegerTy() && S->getIntegerBitWidth() <= 64);
      return !Usual;
    };
    bool Unusual = IsUnusual(I.getType());
    for (const Use &Op : I.operands())
      Unusual |= IsUnusual(Op->getType());
    if (Unusual || I.isAtomic())
      Set |= registers(6, 3);
  }

private:
  function_ref<bool(const Function &)> HasRecord;

  void addCall(const CallBase &Call) {
    for (unsigned I = 0; I < Call.arg_size(); ++I)
      if (Call.isByValArgument(I))
        Set |= registers(3, 0); // copied by a call of memcpy
    auto *F = dyn_cast<Function>(Call.getCalledOperand());
    if (F && HasRecord(*F))
      return;
    Count All = handedOver(Call);
    Known &= All.Known;
    Set |= arguments(All);
    Hidden |= All.Hidden;
  }

  void add(const IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::assume:
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::invariant_start:
    case Intrinsic::invariant_end:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::expect:
    case Intrinsic::ctlz:
    case Intrinsic::cttz:
    case Intrinsic::ctpop:
    case Intrinsic::bswap:
    case Intrinsic::bitreverse:
    case Intrinsic::fshl:
    case Intrinsic::fshr:
    case Intrinsic::abs:
    case Intrinsic::smax:
    case Intrinsic::smin:
    case Intrinsic::umax:
    case Intrinsic::umin:
    case Intrinsic::usub_sat:
    case Intrinsic::uadd_sat:
    case Intrinsic::sadd_with_overflow:
    case Intrinsic::uadd_with_overflow:
    case Intrinsic::ssub_with_overflow:
    case Intrinsic::usub_with_overflow:
    case Intrinsic::fabs:
    case Intrinsic::copysign:
    case Intrinsic::sqrt:
    case Intrinsic::trap:
    case Intrinsic::prefetch:
    case Intrinsic::stacksave:
    case Intrinsic::stackrestore:
    case Intrinsic::eh_typeid_for:
    case Intrinsic::vaend:
      return;
    case Intrinsic::memcpy:
    case Intrinsic::memmove:
    case Intrinsic::memset:
      Set |= registers(3, 0);
      return;
    default:
      if (!isa<DbgInfoIntrinsic>(I))
        Set |= registers(6, 3);
    }
  }
};

/// A stub that hands over a signature (`NxpCalls.cpp`): all calls of one have the same.
bool isStub(const Function &F) { return F.getName().starts_with(FLICK_STUB_PREFIX); }

struct Record {
  uint16_t Arguments = 0, Results = 0, Calls = 0, Flags = 0;
};

std::optional<Record> recordOfStub(const Function &F) {
  Record Mine;
  Mine.Flags = FLICK_ARITY_HIDDEN | FLICK_ARITY_CALLS_HIDDEN;
  for (const User *U : F.users()) {
    auto *Call = dyn_cast<CallBase>(U);
    if (!Call || Call->getCalledOperand() != &F)
      return std::nullopt;
    Count All = handedOver(*Call);
    if (!All.Known)
      return std::nullopt;
    Mine.Arguments |= arguments(All);
    Mine.Results |= resultRegisters(Call->getType()).value_or(0);
  }
  Mine.Calls = Mine.Arguments;
  return Mine;
}

/// Without the calls.
std::optional<Record> recordOfDefinition(const Function &F) {
  Count All = parameters(F);
  auto Results = resultRegisters(F.getReturnType());
  if (!All.Known || !Results)
    return std::nullopt;
  Record Mine;
  Mine.Arguments = arguments(All);
  Mine.Results = *Results;
  Mine.Flags = All.Hidden ? FLICK_ARITY_HIDDEN : 0;
  return Mine;
}

} // namespace

std::string arityRecords(const Module &N) {
  MapVector<const Function *, Record> Records;
  for (const Function &F : N) {
    std::optional<Record> Mine;
    if (isStub(F))
      Mine = recordOfStub(F);
    else if (!F.isDeclarationForLinker())
      Mine = recordOfDefinition(F);
    if (Mine)
      Records[&F] = *Mine;
  }
  // The linker may take another unit's, without a record.
  auto HasRecord = [&](const Function &F) {
    return Records.contains(&F) && (isStub(F) || F.isStrongDefinitionForLinker());
  };
  std::string Text;
  Mangler Names;
  for (auto &[F, Mine] : Records) {
    if (!isStub(*F)) {
      Calls Made(HasRecord);
      for (const Instruction &I : instructions(*F))
        Made.add(I);
      Mine.Calls = Made.Known ? Made.Set : 0xffff;
      Mine.Flags |= Made.Hidden || !Made.Known ? FLICK_ARITY_CALLS_HIDDEN : 0;
    }
    SmallString<64> Name;
    Names.getNameWithPrefix(Name, F, false);
    Text += formatv("\t.quad\t\"{0}\"\n\t.half\t{1}, {2}, {3}, {4}\n", Name, Mine.Arguments,
                    Mine.Results, Mine.Calls, Mine.Flags)
                .str();
  }
  if (Text.empty())
    return Text;
  return "\t.section\t" FLICK_SEC_ARITY ",\"\",@progbits\n" + Text;
}

} // namespace flick
