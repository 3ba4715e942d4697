build/obj/pass/flick-pass.so.objs/Legality.o: Legality.cpp Legality.h \
 Plan.h Calls.h Signature.h Diagnostics.h Leaves.h PinnedNames.h
Legality.h:
Plan.h:
Calls.h:
Signature.h:
Diagnostics.h:
Leaves.h:
PinnedNames.h:
