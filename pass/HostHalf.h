// The x86-64 half: twins, gates, records, accessors.
#pragma once

#include "Plan.h"

#include "llvm/ADT/ArrayRef.h"

namespace flick {

/// Turns the module into the host half and embeds the NxP object in it.
void makeHostHalf(Plan &P, llvm::StringRef NxpObject);

/// Adds the section `.flick.place`; false if there is nothing to say.
bool addPlaceLines(Plan &P);

/// Moves FLICK_NXP_DATA variables to their section.
void placeData(Plan &P);

} // namespace flick
