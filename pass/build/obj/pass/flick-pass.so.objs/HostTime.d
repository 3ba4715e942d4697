build/obj/pass/flick-pass.so.objs/HostTime.o: HostTime.cpp HostTime.h \
 HostCount.h TimedCalls.h flick_abi.h
HostTime.h:
HostCount.h:
TimedCalls.h:
flick_abi.h:
