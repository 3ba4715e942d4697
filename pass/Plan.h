// What a unit places where: the one description from which both halves are made.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace flick {

enum class Side { Host, Nxp, Both };

/// A place in the source as the front end wrote it down; line 0 is unknown.
struct SourcePlace {
  std::string File;
  unsigned Line = 0;
};

/// The user's decision about one function.
struct Choice {
  Side Where;
  /// The reason column of `.flick.place`.
  std::string Reason;
  /// Marked or named exactly: if it cannot be done, that is an error.
  bool Firm;
  /// The tile of a card with several on which the function runs; empty: any.
  std::string Tile = {};
};

/// Why a function cannot run on the NxP.
struct Refusal {
  const char *Code;
  std::string What;
  std::string Why;
  std::string Help;
  const llvm::Instruction *At = nullptr;
};

enum class Role {
  Nxp,        ///< placed on the NxP
  BothMarked, ///< placed on both sides by the user
  BothInline, ///< copied because it is inline
  BothLeaf,   ///< copied because it is a small leaf
};

/// A function of this unit with NxP code.
struct Member {
  Role R;
  /// It has a gate record, and its NxP code a name that other units can call. An inline function
  /// that only NxP functions of this unit call needs none.
  bool Recorded;
};

using Members = llvm::MapVector<llvm::Function *, Member>;

struct Plan {
  explicit Plan(llvm::Module &M) : M(M) {}

  llvm::Module &M;
  llvm::MapVector<llvm::Function *, Choice> Choices;
  llvm::DenseMap<const llvm::GlobalValue *, SourcePlace> Places;
  /// Declarations marked FLICK_NXP or FLICK_BOTH, with the mark: another unit should place them.
  std::vector<std::pair<const llvm::Function *, std::string>> Expected;
  llvm::MapVector<llvm::GlobalVariable *, std::string> NxpData;
  /// FILE:LINE of the placement-file entries that match a function here.
  std::vector<std::string> MatchedEntries;
  /// Small leaf functions may be copied.
  bool CopyLeaves = true;

  Members Functions;
  /// Chosen by a pattern or at random and refused; they stay on the host.
  llvm::MapVector<llvm::Function *, Refusal> Refused;
  /// Inline definitions that the host must not use, because another unit holds the placed one.
  std::vector<llvm::Function *> DeclareOnly;

  /// Hidden names of internal symbols that both halves use.
  llvm::MapVector<llvm::GlobalValue *, std::string> Exported;
  /// Constants of which each half has its own copy.
  llvm::SetVector<llvm::GlobalVariable *> Copied;
  /// Definitions that the host half would drop if it did not use them itself, but NxP code does.
  llvm::SetVector<llvm::GlobalValue *> NeededOnHost;
  /// Thread-locals that NxP code uses.
  llvm::SetVector<llvm::GlobalVariable *> ThreadLocals;
  /// Eight hexadecimal digits that make this unit's internal names unique.
  std::string Hash;

  bool isPlacedOnNxp(const llvm::Function *F) const;
  /// The tile of a function that is placed on the NxP; empty: none.
  llvm::StringRef tileOf(const llvm::Function &F) const;
  /// NxP code of Caller reaches the NxP code of Callee by its address alone: it runs on another
  /// tile.
  bool isElsewhere(const llvm::Function &Caller, const llvm::Function &Callee) const;
  /// U calls its function in the body of an NxP function, whose NxP code and host clone call NxP
  /// code and host clone.
  bool isCallByNxp(const llvm::Use &U) const;

  /// The symbol by which the other half and other units know V.
  std::string symbolOf(const llvm::GlobalValue &V) const;
  std::string nxpSymbolOf(const llvm::Function &F) const;
  std::string hostCloneSymbolOf(const llvm::Function &F) const;
  std::string accessorOf(const llvm::GlobalVariable &V) const;
};

/// The C name: without the `\1` that keeps LLVM from mangling.
llvm::StringRef cName(const llvm::GlobalValue &V);

/// The hash of Plan::Hash.
std::string unitHash(const llvm::Module &M);

/// V's name for people: as the source has it.
std::string shownName(const llvm::GlobalValue &V);

/// A symbol as assembly text, quoted where necessary.
std::string asmSymbol(llvm::StringRef Name);

/// The contents of a string as an operand of `.asciz` or `.ascii`.
std::string asmString(llvm::StringRef Text);

} // namespace flick
