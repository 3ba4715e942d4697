// Which functions the user wants where: marks, then placement files, then random placement.
#pragma once

#include "PlacementFile.h"
#include "Plan.h"

namespace flick {

/// Fills Choices, Places, NxpData and MatchedEntries. False after an error, which has been
/// reported.
bool choosePlacement(Plan &P, const PlacementOptions &Options);

/// Visits what the front end has written down of `annotate`: what it is for, the text, and where it
/// is.
void eachAnnotation(
    llvm::Module &M,
    llvm::function_ref<void(llvm::GlobalValue *, llvm::StringRef, const SourcePlace &)> Visit);

/// Removes Flick's marks from the annotations, which would keep marked functions that nothing uses.
void dropMarks(llvm::Module &M);

} // namespace flick
