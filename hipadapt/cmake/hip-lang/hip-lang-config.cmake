# SPDX-License-Identifier: MIT
# What CMake's language HIP links programs with: hipadapt-cc does that itself, so that a
# linker of another language is what this is for.
include("${CMAKE_CURRENT_LIST_DIR}/../hip/hip-config.cmake")
if(NOT TARGET hip-lang::device)
  add_library(hip-lang::device INTERFACE IMPORTED)
  target_link_libraries(hip-lang::device INTERFACE hip::amdhip64)
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
