# cmake --toolchain PREFIX/share/flick/cmake/flick-toolchain.cmake: the whole project by Flick.
get_filename_component(_flick_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${_flick_root}/bin/flick-cc")
set(CMAKE_CXX_COMPILER "${_flick_root}/bin/flick-c++")
# -DFLICK_PLACE=FILE: a placement file, for compiling and linking. A path relative to where cmake is run
# becomes an absolute one by the type of the cache entry. CMake tries compilers in projects of their
# own, which are given what is listed here.
set(FLICK_PLACE "" CACHE FILEPATH "Placement file for flick-cc and flick-c++")
if(FLICK_PLACE)
  list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FLICK_PLACE)
  foreach(_flick_language C CXX)
    set(CMAKE_${_flick_language}_FLAGS_INIT "\"--flick-place=${FLICK_PLACE}\"")
  endforeach()
endif()
