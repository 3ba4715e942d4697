build/obj/pass/flick-pass.so.objs/LegalBody.o: LegalBody.cpp Calls.h \
 Plan.h Signature.h Legality.h References.h
Calls.h:
Plan.h:
Signature.h:
Legality.h:
References.h:
