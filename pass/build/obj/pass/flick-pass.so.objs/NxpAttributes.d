build/obj/pass/flick-pass.so.objs/NxpAttributes.o: NxpAttributes.cpp \
 NxpHalf.h NxpOptions.h Plan.h
NxpHalf.h:
NxpOptions.h:
Plan.h:
