build/obj/pass/flick-pass.so.objs/Names.o: Names.cpp Plan.h flick_abi.h
Plan.h:
flick_abi.h:
