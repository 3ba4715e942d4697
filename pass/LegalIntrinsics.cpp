// Intrinsics and inline assembly: what has an RV64 form.
#include "Legality.h"
#include "flick_abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;

namespace flick {

static Refusal other(const CallBase &Call, std::string What, std::string Why) {
  return {FLICK_CODE_NO_RV64_FORM, std::move(What), std::move(Why),
          "keep this function on the host", &Call};
}

std::optional<Ordering> nxpOrdering(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::x86_sse2_pause:
    return Ordering::Pause;
  case Intrinsic::x86_sse_sfence:
  case Intrinsic::x86_sse2_lfence:
  case Intrinsic::x86_sse2_mfence:
    return Ordering::Fence;
  default:
    return std::nullopt;
  }
}

static bool isHalfPrecision(const Type *T) {
  return T->getScalarType()->isHalfTy() || T->getScalarType()->isBFloatTy();
}

std::optional<Refusal> checkIntrinsic(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  Intrinsic::ID Id = Callee->getIntrinsicID();
  std::string Name = "'" + Callee->getName().str() + "'";
  if (nxpOrdering(Id))
    return std::nullopt;
  if (Function::isTargetIntrinsic(Id))
    return Refusal{FLICK_CODE_X86_INTRINSIC, "the intrinsic " + Name, "only x86-64 has it",
                   "use portable C, or keep this function on the host", &Call};
  auto LevelZero = [&] { return cast<ConstantInt>(Call.getArgOperand(0))->isZero(); };
  switch (Id) {
  case Intrinsic::returnaddress:
  case Intrinsic::frameaddress:
    if (LevelZero())
      return std::nullopt;
    return other(Call, "the address of a caller's frame", "the caller may be on the other side");
  case Intrinsic::eh_sjlj_setjmp:
  case Intrinsic::eh_sjlj_longjmp:
    return Refusal{FLICK_CODE_RETURNS_TWICE, "a call of __builtin_setjmp or __builtin_longjmp",
                   "it returns twice", "keep this function on the host", &Call};
  case Intrinsic::readcyclecounter:
  case Intrinsic::readsteadycounter:
    return other(Call, "a read of the time-stamp counter", "the NxP's counter is another clock");
  case Intrinsic::thread_pointer:
  case Intrinsic::read_register:
  case Intrinsic::read_volatile_register:
  case Intrinsic::write_register:
    return other(Call, "access to a named register", "registers differ between the sides");
  case Intrinsic::init_trampoline:
  case Intrinsic::adjust_trampoline:
    return other(Call, "a trampoline", "it writes x86-64 code");
  case Intrinsic::clear_cache:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
  case Intrinsic::stackguard:
  case Intrinsic::stackprotector:
  case Intrinsic::get_fpenv:
  case Intrinsic::set_fpenv:
  case Intrinsic::reset_fpenv:
  case Intrinsic::get_fpmode:
  case Intrinsic::set_fpmode:
  case Intrinsic::reset_fpmode:
  case Intrinsic::convert_to_fp16:
  case Intrinsic::convert_from_fp16:
    return other(Call, "the intrinsic " + Name, "the crossing does not cover it");
  default:
    break;
  }
  if (isa<ConstrainedFPIntrinsic>(Call) &&
      (isHalfPrecision(Call.getType()) ||
       any_of(Call.args(), [](const Use &Op) { return isHalfPrecision(Op->getType()); })))
    return other(
        Call, "the intrinsic " + Name,
        "half precision has no form on the NxP where the floating-point environment counts");
  StringRef Base = Intrinsic::getBaseName(Id);
  if (Base.starts_with("llvm.eh.") && Id != Intrinsic::eh_typeid_for)
    return Refusal{FLICK_CODE_UNWINDING_BY_HAND, "the intrinsic " + Name,
                   "it handles exceptions in another form than that of Linux",
                   "keep this function on the host", &Call};
  for (StringRef Prefix :
       {"llvm.coro.", "llvm.gc", "llvm.local", "llvm.type.", "llvm.xray.",
        "llvm.call.preallocated.", "llvm.experimental.gc.", "llvm.experimental.stackmap",
        "llvm.experimental.patchpoint.", "llvm.experimental.deoptimize", "llvm.vp.", "llvm.swift.",
        "llvm.asan.", "llvm.hwasan.", "llvm.memcpy.element.", "llvm.memmove.element.",
        "llvm.memset.element.", "llvm.pseudoprobe", "llvm.matrix."})
    if (Base.starts_with(Prefix))
      return other(Call, "the intrinsic " + Name, "it has no form for the NxP");
  return std::nullopt;
}

/// An operand that any register or memory can hold means the same on RV64, if no instruction uses
/// it.
static std::optional<std::string> constraintCode(StringRef Code, Type *Operand) {
  bool Float = Operand && (Operand->isFloatTy() || Operand->isDoubleTy());
  if (Code.starts_with("{")) // a register of x86-64; an empty template cannot tell which it was
    return Float ? "f" : "r";
  if (Code.size() != 1)
    return std::nullopt;
  switch (Code[0]) {
  case 'm':
  case 'i':
  case 'n':
  case 's':
  case 'X':
    return Code.str();
  case 'r':
  case 'q':
  case 'Q':
  case 'R':
  case 'l':
    return Float ? "f" : "r";
  case 'x':
    return Float ? std::optional<std::string>("f") : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Whether a statement aligns what follows, as compilers do it in front of loops.
static bool isAlignment(StringRef Statement) {
  bool Aligns = Statement.consume_front(".p2align") || Statement.consume_front(".balign") ||
                Statement.consume_front(".align");
  return Aligns && !Statement.empty() && isSpace(Statement[0]) &&
         all_of(Statement, [](char C) { return isSpace(C) || isDigit(C) || C == ','; });
}

/// What the instructions of a template do together; none if any is not known here. The strongest
/// counts: a fence is also a pause.
static std::optional<Ordering> orderingOf(StringRef Template) {
  SmallVector<StringRef> Lines, Words;
  Template.split(Lines, '\n');
  Ordering Does = Ordering::None;
  for (StringRef Line : Lines)
    Line.split('#').first.split(Words, ';');
  bool Repeat = false, Lock = false;
  for (StringRef Word : Words) {
    Word = Word.trim();
    // Prefixes stand before their instruction or in a statement of their own.
    Repeat |= Word.consume_front("rep") && (Word.empty() || isSpace(Word[0]));
    Lock |= Word.consume_front("lock") && (Word.empty() || isSpace(Word[0]));
    Word = Word.trim();
    if (Word.empty())
      continue;
    // What programs for older processors have in the place of mfence: a locked addition of zero, or
    // disjunction with it, to a word at the stack pointer.
    SmallString<32> Dense;
    for (char C : Word)
      if (!isSpace(C))
        Dense += C;
    bool AddsNothing = StringSwitch<bool>(Dense.substr(0, 7))
                           .Cases("addl$$0", "addq$$0", "orl$$0,", "orq$$0,", true)
                           .Default(false) &&
                       Dense.str().ends_with("(%rsp)");
    if (Lock ? AddsNothing : Word == "mfence" || Word == "lfence" || Word == "sfence")
      Does = Ordering::Fence;
    else if (!Lock && (Word == "pause" || (Repeat && Word == "nop")))
      Does = Does == Ordering::Fence ? Does : Ordering::Pause;
    else if (Lock || Repeat || (Word != "nop" && !isAlignment(Word)))
      return std::nullopt;
    Repeat = Lock = false;
  }
  return Repeat || Lock ? std::nullopt : std::optional(Does);
}

bool isCustomAssembly(const CallBase &Call) {
  if (!Call.isInlineAsm() || isa<CallBrInst>(Call))
    return false;
  SmallVector<StringRef> Lines, Words;
  StringRef Template = cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
  Template.split(Lines, '\n');
  for (StringRef Line : Lines)
    Line.split(Words, ';');
  bool Any = false;
  for (StringRef Word : Words) {
    Word = Word.trim();
    if (Word.empty())
      continue;
    if (!Word.consume_front(".insn") || Word.empty() || !isSpace(Word[0]))
      return false;
    auto [Format, Operands] = Word.trim().split(' ');
    bool IsCustom = StringSwitch<bool>(Operands.split(',').first.trim())
                        .Cases("0x0b", "0x2b", "0x5b", "0x7b", true)
                        .Cases("CUSTOM_0", "CUSTOM_1", "CUSTOM_2", "CUSTOM_3", true)
                        .Default(false);
    if (Format != "r" || !IsCustom)
      return false;
    Any = true;
  }
  return Any;
}

std::optional<NxpAssembly> nxpAssembly(const CallBase &Call) {
  const auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  bool IsCustom = isCustomAssembly(Call);
  std::optional<Ordering> Does = IsCustom ? Ordering::None : orderingOf(Asm->getAsmString());
  if (!Does || isa<CallBrInst>(Call))
    return std::nullopt;
  std::string Out;
  unsigned Argument = 0, Result = 0;
  auto *Results = dyn_cast<StructType>(Call.getType());
  for (const InlineAsm::ConstraintInfo &Info : Asm->ParseConstraints()) {
    if (Info.Type == InlineAsm::isLabel || Info.isMultipleAlternative || Info.Codes.empty())
      return std::nullopt;
    std::string Text;
    if (Info.Type == InlineAsm::isClobber) {
      // The other clobbers name x86-64 registers, which an empty template leaves alone.
      if (Info.Codes[0] != "{memory}")
        continue;
      Text = "~{memory}";
    } else {
      Type *Operand;
      if (Info.Type == InlineAsm::isOutput && !Info.isIndirect)
        Operand = Results ? Results->getElementType(Result++) : Call.getType();
      else
        Operand = Call.getArgOperand(Argument++)->getType();
      if (Operand->isAggregateType() || Operand->isVectorTy() || isHalfPrecision(Operand))
        return std::nullopt;
      Text = Info.Type == InlineAsm::isOutput ? (Info.isEarlyClobber ? "=&" : "=") : "";
      if (Info.isIndirect)
        Text += "*";
      if (Info.hasMatchingInput() && Info.Type == InlineAsm::isInput)
        return std::nullopt;
      bool Any = false;
      for (const std::string &Code : Info.Codes) {
        bool Matching = Info.Type == InlineAsm::isInput && isDigit(Code[0]);
        std::optional<std::string> Mine =
            Matching ? std::optional(Code)
                     : constraintCode(Code, Info.isIndirect ? nullptr : Operand);
        if (!Mine)
          continue;
        Text += *Mine;
        Any = true;
      }
      if (!Any)
        return std::nullopt;
    }
    Out += (Out.empty() ? "" : ",") + Text;
  }
  std::string Template = IsCustom ? Asm->getAsmString() : std::string();
  return NxpAssembly{*Does, std::move(Template), Out};
}

} // namespace flick
