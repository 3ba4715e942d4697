build/obj/pass/flick-pass.so.objs/FunctionNames.o: FunctionNames.cpp \
 FunctionNames.h
FunctionNames.h:
