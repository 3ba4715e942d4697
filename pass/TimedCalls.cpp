#include "TimedCalls.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace flick {

bool isMemoryFunction(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->isDeclaration() || Call.arg_size() != 3 ||
      !Call.getArgOperand(2)->getType()->isIntegerTy(64))
    return false;
  return StringSwitch<bool>(Callee->getName())
      .Cases("memcpy", "memmove", "memset", true)
      .Default(false);
}

Value *lengthOf(CallBase &Call, IRBuilder<> &B) {
  constexpr int None = -1, Result = -2;
  const Function *Callee = Call.getCalledFunction();
  int Where =
      StringSwitch<int>(Callee ? Callee->getName() : "")
          .Cases("memcmp", "bcmp", "memchr", 2)
          .Cases("strlen", "printf", "fprintf", "sprintf", "snprintf", "puts", "fputs", Result)
          .Cases("read", "write", Result)
          .Cases("fread", "fwrite", 2)
          .Cases("malloc", "usleep", "sleep", "nanosleep", 0)
          .Cases("calloc", "realloc", "qsort", 1)
          .Case("clock_nanosleep", 2)
          .Default(None);
  Value *Length = nullptr;
  if (Where == Result)
    Length = &Call;
  else if (Where >= 0 && unsigned(Where) < Call.arg_size())
    Length = Call.getArgOperand(Where);
  if (!Length)
    return B.getInt64(0);
  if (Length->getType()->isPointerTy())
    return B.CreatePtrToInt(Length, B.getInt64Ty());
  if (!Length->getType()->isIntegerTy())
    return B.getInt64(0);
  if (Where == Result && Callee->getName() != "strlen") {
    // Counts of bytes, negative for errors.
    Value *Wide = B.CreateSExtOrTrunc(Length, B.getInt64Ty());
    Value *Zero = B.getInt64(0);
    return B.CreateSelect(B.CreateICmpSGT(Wide, Zero), Wide, Zero);
  }
  Length = B.CreateZExtOrTrunc(Length, B.getInt64Ty());
  // Elements of a size.
  if (Callee->getName() == "fread" || Callee->getName() == "fwrite") {
    Value *Size = Call.getArgOperand(1);
    if (Size->getType()->isIntegerTy())
      Length = B.CreateMul(Length, B.CreateZExtOrTrunc(Size, B.getInt64Ty()));
  }
  return Length;
}

} // namespace flick
