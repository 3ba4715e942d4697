build/obj/pass/flick-pass.so.objs/CommandLine.o: CommandLine.cpp \
 CommandLine.h
CommandLine.h:
