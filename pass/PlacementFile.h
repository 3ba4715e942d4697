// Placement files and the other sources of choices that come from the command line.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "Plan.h"

namespace flick {

struct PlacementEntry {
  Side Where;
  llvm::GlobPattern Pattern;
  bool Exact;
  /// FILE:LINE
  std::string At;
};

struct RandomPlacement {
  std::string Seed;
  unsigned Percent;
  bool picks(llvm::StringRef Name) const;
};

struct PlacementOptions {
  /// The files: patterns refer to their text.
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> Texts;
  std::vector<PlacementEntry> Entries;
  std::optional<RandomPlacement> Random;
};

/// What `-flick-place=` and `-flick-random=` say. The error lists every bad line, one a line.
llvm::Expected<PlacementOptions> readPlacementOptions();

} // namespace flick
