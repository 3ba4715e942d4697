build/obj/pass/flick-pass.so.objs/HostCount.o: HostCount.cpp HostCount.h
HostCount.h:
