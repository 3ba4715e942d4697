build/obj/pass/flick-pass.so.objs/LegalIntrinsics.o: LegalIntrinsics.cpp \
 Legality.h Plan.h
Legality.h:
Plan.h:
