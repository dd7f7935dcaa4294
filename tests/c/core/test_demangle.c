/* SPDX-License-Identifier: MIT */
/* Names of kernels as they were written. */
/* sources: core */
#include "check.h"
#include "core/demangle.h"

#include <stdlib.h>
#include <string.h>

static void
check(const char *symbol, const char *expected)
{
    char *name = ha_demangle(symbol);

    CHECK(name != NULL);
    CHECK_TEXT(name, expected);
    free(name);
}

static void
test_symbols_of_cpp_are_read(void)
{
    check("_Z5twicePfi", "twice(float*, int)");
    check("_Z5twicePfi.kd", "twice(float*, int)");
    check("_ZN2ns3addIfLi4EEEvPT_", "void ns::add<float, 4>(float*)");
}

static void
test_other_names_stay(void)
{
    check("work", "work");
    check("work.kd", "work");
    check(".kd", ".kd");
    check("", "");
    check("_Znonsense", "_Znonsense");
    check("_Z", "_Z");
    check("i", "i"); /* a type's code, and a name of C */
}

/* What is too deep for the library's reader is left alone, and nothing is cut. */
static void
test_hostile_symbols_stay_whole(void)
{
    enum { BYTES = 1 << 20 };
    char *symbol = malloc(BYTES + 1);

    CHECK(symbol != NULL);
    memset(symbol, 'P', BYTES);
    memcpy(symbol, "_Z1f", 4);
    symbol[BYTES - 1] = 'i';
    symbol[BYTES] = '\0';
    char *name = ha_demangle(symbol);
    CHECK(name != NULL && strlen(name) >= BYTES);
    free(name);
    free(symbol);
}

int
main(void)
{
    RUN(test_symbols_of_cpp_are_read);
    RUN(test_other_names_stay);
    RUN(test_hostile_symbols_stay_whole);
    return 0;
}
