build/obj/pass/flick-pass.so.objs/Leaves.o: Leaves.cpp Leaves.h Plan.h \
 Calls.h Signature.h flick_abi.h
Leaves.h:
Plan.h:
Calls.h:
Signature.h:
flick_abi.h:
