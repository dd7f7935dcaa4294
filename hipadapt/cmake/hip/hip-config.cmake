# SPDX-License-Identifier: MIT
# find_package(hip): the CPU device of hipadapt under the names of AMD's package.
get_filename_component(_hipadapt_package "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(hip_INCLUDE_DIR "${_hipadapt_package}/include")
set(hip_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(hip_LIB_INSTALL_DIR "${_hipadapt_package}/_lib")
set(HIP_PLATFORM amd)
set(HIP_COMPILER clang)
set(HIP_RUNTIME rocclr)

if(NOT TARGET hip::amdhip64)
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${hip_LIB_INSTALL_DIR}/libhipadapt_cpu.so"
    INTERFACE_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1")
  add_library(hip::host INTERFACE IMPORTED)
  target_link_libraries(hip::host INTERFACE hip::amdhip64)
  # Kernels need the language HIP, or hipadapt-cc as the C++ compiler.
  add_library(hip::device INTERFACE IMPORTED)
  target_link_libraries(hip::device INTERFACE hip::host)
endif()
set(hip_LIBRARIES hip::host)
set(hip_LIBRARY hip::host)
set(HIP_FOUND TRUE)
