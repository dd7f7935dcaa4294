/* SPDX-License-Identifier: MIT */
#include "core/demangle.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".kd"

typedef char *demangler(const char *symbol, char *buffer, size_t *bytes, int *status);

/* Any thread may look: all find the same. */
static demangler *
find(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    static const char name[] = "__cxa_demangle";
    static demangler *_Atomic known;
    static atomic_bool looked;

    if (atomic_load(&looked)) {
        return atomic_load(&known);
    }
    void *found = dlsym(RTLD_DEFAULT, name);
    for (size_t i = 0; found == NULL && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL); /* kept */
        found = library != NULL ? dlsym(library, name) : NULL;
    }
    demangler *function;
    memcpy(&function, &found, sizeof function);
    atomic_store(&known, function);
    atomic_store(&looked, true);
    return function;
}

char *
ha_demangle(const char *symbol)
{
    size_t bytes = strlen(symbol), suffix = sizeof SUFFIX - 1;
    int status = -1;

    if (bytes > suffix && strcmp(symbol + bytes - suffix, SUFFIX) == 0) {
        bytes -= suffix;
    }
    char *plain = strndup(symbol, bytes);
    demangler *demangle = plain != NULL && strncmp(plain, "_Z", 2) == 0 ? find() : NULL;
    char *made = demangle != NULL ? demangle(plain, NULL, NULL, &status) : NULL;
    if (made == NULL || status != 0) {
        return plain;
    }
    free(plain);
    return made;
}
