build/obj/pass/flick-pass.so.objs/HostCheck.o: HostCheck.cpp HostCheck.h \
 flick_abi.h
HostCheck.h:
flick_abi.h:
