// Symbol names of the two halves.
#include "Plan.h"
#include "flick_abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace flick {

StringRef cName(const GlobalValue &V) { return GlobalValue::dropLLVMManglingEscape(V.getName()); }

std::string unitHash(const Module &M) {
  // All of it: one source may be compiled twice with different macros, two may have one name.
  SmallString<0> Bytes;
  raw_svector_ostream Stream(Bytes);
  WriteBitcodeToFile(M, Stream);
  return formatv("{0:x-8}", static_cast<uint32_t>(xxh3_64bits(Bytes))).str();
}

std::string shownName(const GlobalValue &V) { return demangle(cName(V)); }

bool Plan::isPlacedOnNxp(const Function *F) const {
  auto It = Functions.find(const_cast<Function *>(F));
  return It != Functions.end() && It->second.R == Role::Nxp;
}

StringRef Plan::tileOf(const Function &F) const {
  auto It = Choices.find(const_cast<Function *>(&F));
  return It != Choices.end() && isPlacedOnNxp(&F) ? StringRef(It->second.Tile) : "";
}

bool Plan::isElsewhere(const Function &Caller, const Function &Callee) const {
  StringRef Tile = tileOf(Callee);
  return !Tile.empty() && Tile != tileOf(Caller);
}

bool Plan::isCallByNxp(const Use &U) const {
  auto *Call = dyn_cast<CallBase>(U.getUser());
  return Call && Call->isCallee(&U) && isPlacedOnNxp(Call->getFunction());
}

std::string Plan::symbolOf(const GlobalValue &V) const {
  auto It = Exported.find(const_cast<GlobalValue *>(&V));
  return It != Exported.end() ? It->second : cName(V).str();
}

std::string Plan::nxpSymbolOf(const Function &F) const { return FLICK_NXP_PREFIX + symbolOf(F); }

std::string Plan::hostCloneSymbolOf(const Function &F) const {
  return FLICK_HOST_CLONE_PREFIX + symbolOf(F);
}

std::string Plan::accessorOf(const GlobalVariable &V) const {
  std::string Name = FLICK_TLS_PREFIX + cName(V).str();
  return V.hasLocalLinkage() ? Name + ".flick." + Hash : Name;
}

std::string asmString(StringRef Text) {
  std::string Out = "\"";
  for (unsigned char C : Text) {
    if (C == '"' || C == '\\') {
      Out += '\\';
      Out += static_cast<char>(C);
    } else if (C >= 0x20 && C < 0x7f) {
      Out += static_cast<char>(C);
    } else {
      Out += '\\';
      Out += static_cast<char>('0' + (C >> 6));
      Out += static_cast<char>('0' + ((C >> 3) & 7));
      Out += static_cast<char>('0' + (C & 7));
    }
  }
  return Out + '"';
}

std::string asmSymbol(StringRef Name) {
  bool Plain = !Name.empty() && !isDigit(Name[0]) &&
               all_of(Name, [](char C) { return isAlnum(C) || C == '_' || C == '.'; });
  return Plain ? Name.str() : '"' + Name.str() + '"';
}

} // namespace flick
