# find_package(weft): the targets weft::weft, weft::trace, weft::testing, weft::io and, if it was built,
# weft::durable, which also needs SQLite 3, and weft::cluster, which needs libnats.
#
# Where the static and the shared libraries are installed, BUILD_SHARED_LIBS chooses.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
find_package(SQLite3 QUIET)

set(weft_kinds static shared)
if(BUILD_SHARED_LIBS)
  set(weft_kinds shared static)
endif()
foreach(weft_kind IN LISTS weft_kinds)
  if(NOT TARGET weft::weft)
    include("${CMAKE_CURRENT_LIST_DIR}/weft-${weft_kind}.cmake" OPTIONAL)
  endif()
endforeach()
