// Which functions the user wants where: marks, then placement files, then random placement.
#pragma once

#include "PlacementFile.h"
#include "Plan.h"

namespace flick {

/// Fills Choices, Places, NxpData and MatchedEntries. False after an error, which has been
/// reported.
bool choosePlacement(Plan &P, const PlacementOptions &Options);

/// Removes Flick's marks from the annotations, which would keep marked functions that nothing uses.
void dropMarks(llvm::Module &M);

} // namespace flick
