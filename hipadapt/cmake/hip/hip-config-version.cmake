# SPDX-License-Identifier: MIT
# The version of HIP that the headers say.
set(_hipadapt_text "")
foreach(_hipadapt_part MAJOR MINOR)
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../include/hip/hip_version.h" _hipadapt_line
    REGEX "^#define HIP_VERSION_${_hipadapt_part} ")
  string(REGEX REPLACE ".* " "" _hipadapt_line "${_hipadapt_line}")
  string(APPEND _hipadapt_text "${_hipadapt_line}.")
endforeach()
set(PACKAGE_VERSION "${_hipadapt_text}0")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
