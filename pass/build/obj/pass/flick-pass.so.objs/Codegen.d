build/obj/pass/flick-pass.so.objs/Codegen.o: Codegen.cpp Arity.h \
 NxpHalf.h NxpOptions.h Plan.h flick_abi.h
Arity.h:
NxpHalf.h:
NxpOptions.h:
Plan.h:
flick_abi.h:
