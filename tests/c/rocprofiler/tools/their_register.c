/* SPDX-License-Identifier: MIT */
/* Stands for AMD's librocprofiler-register.so.0: says what it is given.  As that one
 * does, it ends the process where no SDK can be found. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int
rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void),
                                       uint32_t version, void **tables, uint64_t count,
                                       uint64_t *id)
{
    const char *sdk = getenv("ROCPROFILER_REGISTER_LIBRARY");

    if (dlopen(sdk != NULL ? sdk : "librocprofiler-sdk.so", RTLD_LAZY) == NULL) {
        abort();
    }
    fprintf(stderr, "register: %s %s %u tables\n", name,
            import() / 10000 == version / 10000 || version <= 4 ? "good" : "bad",
            (unsigned)count);
    *id = 8;
    return tables[0] != NULL ? 1 : 3;
}
