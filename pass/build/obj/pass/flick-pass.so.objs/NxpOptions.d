build/obj/pass/flick-pass.so.objs/NxpOptions.o: NxpOptions.cpp \
 NxpOptions.h flick_abi.h
NxpOptions.h:
flick_abi.h:
