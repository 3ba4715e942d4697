// The x86-64 half: host clones, gates, records, accessors.
#pragma once

#include "Plan.h"

#include "llvm/ADT/ArrayRef.h"

namespace flick {

/// Turns the module into the host half and embeds the NxP object in it.
void makeHostHalf(Plan &P, llvm::StringRef NxpObject);

/// The lines of `.flick.place`, while functions still have their names; empty if there is nothing
/// to say.
std::string placeLines(Plan &P);

/// Adds the section `.flick.place`.
void addPlaceLines(llvm::Module &M, llvm::StringRef Lines);

/// Whether this is a section of FLICK_NXP_DATA variables, of a tile or not.
bool isDataSection(llvm::StringRef Section);

/// Moves FLICK_NXP_DATA variables to their section, and those of a tile to that tile's.
void placeData(Plan &P);

} // namespace flick
