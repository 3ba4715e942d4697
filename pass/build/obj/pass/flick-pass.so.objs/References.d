build/obj/pass/flick-pass.so.objs/References.o: References.cpp \
 References.h Plan.h Calls.h Signature.h
References.h:
Plan.h:
Calls.h:
Signature.h:
