build/obj/pass/flick-pass.so.objs/CallerModule.o: CallerModule.cpp \
 CallerModule.h Plan.h
CallerModule.h:
Plan.h:
