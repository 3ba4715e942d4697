build/obj/pass/flick-pass.so.objs/PlaceLines.o: PlaceLines.cpp HostHalf.h \
 Plan.h flick_abi.h
HostHalf.h:
Plan.h:
flick_abi.h:
