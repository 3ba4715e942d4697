build/obj/pass/flick-pass.so.objs/Plugin.o: Plugin.cpp Aliases.h \
 CallerModule.h Plan.h CommandLine.h Diagnostics.h HostCheck.h HostHalf.h \
 HostTime.h Legality.h NxpHalf.h NxpOptions.h Placement.h PlacementFile.h \
 References.h
Aliases.h:
CallerModule.h:
Plan.h:
CommandLine.h:
Diagnostics.h:
HostCheck.h:
HostHalf.h:
HostTime.h:
Legality.h:
NxpHalf.h:
NxpOptions.h:
Placement.h:
PlacementFile.h:
References.h:
