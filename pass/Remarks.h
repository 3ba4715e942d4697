// Placements and refusals as optimisation remarks of the pass `flick`, for -Rpass=flick,
// -Rpass-missed=flick and -fsave-optimization-record.
#pragma once

#include "Plan.h"

namespace flick {

/// Emits a remark for each function of P with NxP code, and a missed one for each that was chosen
/// by a pattern or at random and refused. Emits nothing where nobody asked for remarks.
void emitRemarks(const Plan &P);

} // namespace flick
