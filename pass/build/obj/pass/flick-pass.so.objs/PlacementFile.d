build/obj/pass/flick-pass.so.objs/PlacementFile.o: PlacementFile.cpp \
 PlacementFile.h Plan.h FunctionNames.h flick_abi.h
PlacementFile.h:
Plan.h:
FunctionNames.h:
flick_abi.h:
