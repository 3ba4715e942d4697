// What a debugger knows of the gates of a unit.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/GlobalValue.h"
#include "llvm/IR/Module.h"
#include <string>

namespace flick {

/// `step` of a debugger goes from a call through a gate to the function's translation, if the
/// unit has debug information.
///
/// gdb steps into C++ thunks (gdb/gnu-v3-abi.c, `gnuv3_skip_trampoline`): a thunk's demangled name
/// has the name of the function's symbol. So each gate has the symbol of a thunk beside its own.
/// gdb skips the function's prologue only if a unit with debug information has the place where it
/// stepped to, so the gates have a small unit (DWARF 4) of their own, without lines.
class GateDebug {
public:
  explicit GateDebug(const llvm::Module &M) : Wanted(!M.debug_compile_units().empty()) {}

  /// Assembly behind the code of a gate of the function \p Name: its symbol's size, and the thunk's
  /// symbol, which leads to \p Code. \p Entry is a label at the gate.
  std::string gate(llvm::StringRef Symbol, llvm::StringRef Entry, llvm::StringRef Name,
                   llvm::StringRef Code, bool Weak);

  /// Assembly of the gates' unit.
  std::string unit() const;

private:
  bool Wanted;
  std::string Ranges, Entries;
};

} // namespace flick
