build/obj/pass/flick-pass.so.objs/NxpLower.o: NxpLower.cpp Calls.h Plan.h \
 Signature.h Legality.h NxpHalf.h NxpOptions.h References.h flick_abi.h
Calls.h:
Plan.h:
Signature.h:
Legality.h:
NxpHalf.h:
NxpOptions.h:
References.h:
flick_abi.h:
