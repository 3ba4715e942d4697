build/obj/pass/flick-pass.so.objs/Diagnostics.o: Diagnostics.cpp \
 Diagnostics.h Plan.h
Diagnostics.h:
Plan.h:
