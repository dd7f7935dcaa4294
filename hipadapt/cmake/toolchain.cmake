# SPDX-License-Identifier: MIT
# CMake's language HIP and find_package(hip) for the CPU device of hipadapt:
#
#     cmake -B build -DCMAKE_TOOLCHAIN_FILE=$(hipadapt-cc --print-cmake-toolchain)
#
# Where there is no C or C++ compiler, hipadapt-cc takes its place, too.
include_guard(GLOBAL)
get_filename_component(_hipadapt_package "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)

# The script of this package; ../../.. are lib, python3.x and site-packages.
find_program(HIPADAPT_CC hipadapt-cc
  HINTS "${_hipadapt_package}/../../../../bin" "${_hipadapt_package}/../../../bin"
        "${_hipadapt_package}/../.venv/bin"
  DOC "The compiler driver of hipadapt")
if(NOT HIPADAPT_CC)
  message(FATAL_ERROR "hipadapt-cc was not found: set HIPADAPT_CC to its path, or put it on PATH")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HIPADAPT_CC)

set(CMAKE_HIP_PLATFORM amd)
set(CMAKE_HIP_COMPILER "${HIPADAPT_CC}")
set(CMAKE_HIP_COMPILER_ROCM_ROOT "${_hipadapt_package}")
set(CMAKE_HIP_COMPILER_ROCM_LIB "${_hipadapt_package}") # which has cmake/hip-lang
if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
  set(CMAKE_HIP_ARCHITECTURES native)
endif()
foreach(_hipadapt_name hip hiprtc)
  set(${_hipadapt_name}_DIR "${CMAKE_CURRENT_LIST_DIR}/${_hipadapt_name}" CACHE PATH
    "What find_package(${_hipadapt_name}) finds")
endforeach()

find_program(_hipadapt_cxx NAMES c++ g++ clang++ NO_CACHE)
if(NOT _hipadapt_cxx AND NOT DEFINED CMAKE_CXX_COMPILER AND "$ENV{CXX}" STREQUAL "")
  set(CMAKE_CXX_COMPILER "${HIPADAPT_CC}")
endif()
find_program(_hipadapt_c NAMES cc gcc clang NO_CACHE)
if(NOT _hipadapt_c AND NOT DEFINED CMAKE_C_COMPILER AND "$ENV{CC}" STREQUAL "")
  set(CMAKE_C_COMPILER "${HIPADAPT_CC}")
endif()

find_program(_hipadapt_ar NAMES ar llvm-ar gcc-ar NO_CACHE)
if(NOT _hipadapt_ar AND NOT DEFINED CMAKE_AR)
  foreach(_hipadapt_language C CXX HIP)
    set(CMAKE_${_hipadapt_language}_CREATE_STATIC_LIBRARY
      "\"${HIPADAPT_CC}\" --emit-static-lib <OBJECTS> -o <TARGET>")
  endforeach()
endif()
