/* SPDX-License-Identifier: MIT */
/* Requests for memory that fail when a test says so.  The linker redirects those of our
 * objects; a test that includes this needs
 *
 *     libraries: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc
 *     libraries: -Wl,--wrap=strdup,--wrap=strndup,--wrap=mmap,--wrap=memfd_create
 */
#ifndef HA_TESTS_NO_MEMORY_H
#define HA_TESTS_NO_MEMORY_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>

/* Requests until one fails; 0 or less: none does any more. */
static _Atomic long left;
static _Atomic long failures; /* in a row */
static _Atomic bool armed;
static _Atomic long asked;

static bool
fails(void)
{
    atomic_fetch_add(&asked, 1);
    if (!armed) {
        return false;
    }
    long now = atomic_fetch_sub(&left, 1);
    return now <= 1 && now > 1 - failures;
}

#define FAILING(type, name, parameters, arguments, none)                               \
    type __real_##name parameters;                                                     \
    type __wrap_##name parameters;                                                     \
    type __wrap_##name parameters                                                      \
    {                                                                                  \
        if (fails()) {                                                                 \
            errno = ENOMEM;                                                            \
            return none;                                                               \
        }                                                                              \
        return __real_##name arguments;                                                \
    }

FAILING(void *, malloc, (size_t size), (size), NULL)
FAILING(void *, calloc, (size_t count, size_t size), (count, size), NULL)
FAILING(void *, realloc, (void *old, size_t size), (old, size), NULL)
FAILING(void *, aligned_alloc, (size_t align, size_t size), (align, size), NULL)
FAILING(char *, strdup, (const char *text), (text), NULL)
FAILING(char *, strndup, (const char *text, size_t size), (text, size), NULL)
FAILING(void *, mmap,
        (void *at, size_t size, int protect, int flags, int fd, off_t from),
        (at, size, protect, flags, fd, from), MAP_FAILED)
FAILING(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)

#endif
