build/obj/pass/flick-pass.so.objs/Placement.o: Placement.cpp Placement.h \
 PlacementFile.h Plan.h Diagnostics.h FunctionNames.h
Placement.h:
PlacementFile.h:
Plan.h:
Diagnostics.h:
FunctionNames.h:
