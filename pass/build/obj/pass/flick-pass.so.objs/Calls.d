build/obj/pass/flick-pass.so.objs/Calls.o: Calls.cpp Calls.h Plan.h \
 Signature.h
Calls.h:
Plan.h:
Signature.h:
