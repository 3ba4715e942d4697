// Placement files and the other sources of choices that come from the command line.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Plan.h"

namespace flick {

struct PlacementEntry {
  Side Where;
  /// The name behind `nxp@`; empty: there is none.
  std::string Tile;
  /// As written, without needless blanks.
  std::string Literal;
  /// What Pattern refers to.
  std::unique_ptr<std::string> Text;
  llvm::GlobPattern Pattern;
  /// It names a function, with whatever overloads and instantiations it has.
  bool Exact;
  /// FILE:LINE
  std::string At;
  /// Its file says `override`: the entry decides about marked functions, too.
  bool Overrides;

  /// Names: functionNames().
  bool matches(llvm::ArrayRef<std::string> Names) const;
};

struct RandomPlacement {
  std::string Seed;
  unsigned Percent;
  bool picks(llvm::StringRef Name) const;
};

struct PlacementOptions {
  std::vector<PlacementEntry> Entries;
  std::optional<RandomPlacement> Random;
  /// Small leaf functions may be copied. Not under random placement, which wants crossings, nor
  /// where only host code is instrumented.
  bool CopyLeaves = true;
};

/// What `-flick-place=` and `-flick-random=` say. The error lists every bad line, one a line.
llvm::Expected<PlacementOptions> readPlacementOptions();

/// The name that a source had before it was copied for a replay (`-flick-root=`).
std::string originalName(llvm::StringRef Name);

} // namespace flick
