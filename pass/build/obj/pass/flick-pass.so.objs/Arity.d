build/obj/pass/flick-pass.so.objs/Arity.o: Arity.cpp Arity.h Calls.h \
 Plan.h Signature.h flick_abi.h
Arity.h:
Calls.h:
Plan.h:
Signature.h:
flick_abi.h:
