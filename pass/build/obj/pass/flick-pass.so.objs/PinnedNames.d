build/obj/pass/flick-pass.so.objs/PinnedNames.o: PinnedNames.cpp \
 PinnedNames.h Plan.h
PinnedNames.h:
Plan.h:
