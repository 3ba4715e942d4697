// Functions of the C library that ask which module their caller is in.
#pragma once

#include "Plan.h"

namespace flick {

/// Lets NxP code call them by way of host functions of this unit, whose return address is in the
/// module, as natively. The crossing's is in the runtime.
void callFromModule(Plan &P);

} // namespace flick
