/* SPDX-License-Identifier: MIT */
/* What C tests share: a failed check names its place and ends the program. */
#ifndef HA_TESTS_CHECK_H
#define HA_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define CHECK_EQUAL(got, want)                                                         \
    do {                                                                               \
        long long got_ = (long long)(got), want_ = (long long)(want);                  \
        if (got_ != want_) {                                                           \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, \
                    got_, want_);                                                      \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define CHECK_TEXT(got, want)                                                          \
    do {                                                                               \
        const char *got_ = (got);                                                      \
        if (strcmp(got_, (want)) != 0) {                                               \
            fprintf(stderr, "%s:%d: %s is '%s', not '%s'\n", __FILE__, __LINE__, #got, \
                    got_, (want));                                                     \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

/* The text contains the part. */
#define CHECK_PART(text, part)                                                         \
    do {                                                                               \
        const char *text_ = (text);                                                    \
        if (strstr(text_, (part)) == NULL) {                                           \
            fprintf(stderr, "%s:%d: no '%s' in '%s'\n", __FILE__, __LINE__, (part),    \
                    text_);                                                            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define RUN(test)                                                                      \
    do {                                                                               \
        test();                                                                        \
        printf("ok %s\n", #test);                                                      \
        fflush(stdout);                                                                \
    } while (0)

#endif
