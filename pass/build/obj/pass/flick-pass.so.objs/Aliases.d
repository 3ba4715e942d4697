build/obj/pass/flick-pass.so.objs/Aliases.o: Aliases.cpp Aliases.h
Aliases.h:
