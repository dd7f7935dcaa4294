# SPDX-License-Identifier: MIT
# find_package(hiprtc): the CPU device has both libraries' functions.
include("${CMAKE_CURRENT_LIST_DIR}/../hip/hip-config.cmake")
if(NOT TARGET hiprtc::hiprtc)
  add_library(hiprtc::hiprtc INTERFACE IMPORTED)
  target_link_libraries(hiprtc::hiprtc INTERFACE hip::amdhip64)
endif()
set(hiprtc_LIBRARIES hiprtc::hiprtc)
