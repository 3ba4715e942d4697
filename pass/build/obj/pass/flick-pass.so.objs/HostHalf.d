build/obj/pass/flick-pass.so.objs/HostHalf.o: HostHalf.cpp HostHalf.h \
 Plan.h Calls.h Signature.h PinnedNames.h Placement.h PlacementFile.h \
 flick_abi.h
HostHalf.h:
Plan.h:
Calls.h:
Signature.h:
PinnedNames.h:
Placement.h:
PlacementFile.h:
flick_abi.h:
