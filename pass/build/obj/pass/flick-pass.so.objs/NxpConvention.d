build/obj/pass/flick-pass.so.objs/NxpConvention.o: NxpConvention.cpp \
 Calls.h Plan.h Signature.h NxpHalf.h NxpOptions.h
Calls.h:
Plan.h:
Signature.h:
NxpHalf.h:
NxpOptions.h:
