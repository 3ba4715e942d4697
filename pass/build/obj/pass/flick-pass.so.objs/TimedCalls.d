build/obj/pass/flick-pass.so.objs/TimedCalls.o: TimedCalls.cpp \
 TimedCalls.h
TimedCalls.h:
