build/obj/pass/flick-pass.so.objs/NxpHalf.o: NxpHalf.cpp NxpHalf.h \
 NxpOptions.h Plan.h Aliases.h References.h flick_abi.h
NxpHalf.h:
NxpOptions.h:
Plan.h:
Aliases.h:
References.h:
flick_abi.h:
