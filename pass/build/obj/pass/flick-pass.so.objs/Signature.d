build/obj/pass/flick-pass.so.objs/Signature.o: Signature.cpp Signature.h
Signature.h:
