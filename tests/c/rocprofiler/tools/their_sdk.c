/* SPDX-License-Identifier: MIT */
/* Stands for AMD's librocprofiler-sdk.so; -DUNUSABLE: a library of that name only. */
#include <stdint.h>

#ifdef UNUSABLE
#define NAME rocprofiler_of_another_age
#else
#define NAME rocprofiler_set_api_table
#endif

__attribute__((visibility("default"))) int
NAME(const char *name, uint64_t version, uint64_t instance, void **tables,
     uint64_t count)
{
    (void)name;
    (void)version;
    (void)instance;
    (void)tables;
    return count == 0;
}
