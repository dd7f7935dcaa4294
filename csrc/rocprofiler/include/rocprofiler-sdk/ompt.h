/* SPDX-License-Identifier: MIT */
/* OpenMP: its runtimes report nothing here. */
#ifndef ROCPROFILER_SDK_OMPT_H
#define ROCPROFILER_SDK_OMPT_H

#include <rocprofiler-sdk/ompt/start_tool.h>

#endif
