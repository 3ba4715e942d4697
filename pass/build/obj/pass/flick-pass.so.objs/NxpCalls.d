build/obj/pass/flick-pass.so.objs/NxpCalls.o: NxpCalls.cpp Calls.h Plan.h \
 Signature.h NxpHalf.h NxpOptions.h flick_abi.h
Calls.h:
Plan.h:
Signature.h:
NxpHalf.h:
NxpOptions.h:
flick_abi.h:
