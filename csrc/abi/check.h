/* SPDX-License-Identifier: MIT */
/* What the checks of kernels find: the table between the CPU device and whoever reads
 * findings, a test framework or hipadapt.check.
 *
 * A *finding* is one mistake of a kernel or of a call, with where it happened.  Equal
 * ones, by kind and place of both sides, are one finding with a count.  Findings are
 * kept until hipadaptCheckClear, however many programs and modules come and go. */
#ifndef HA_ABI_CHECK_H
#define HA_ABI_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* What is checked: HIPADAPT_CHECK=memory,race, or all.  The device refuses those that
 * are marked. */
enum ha_check_kinds {
    HA_CHECK_MEMORY = 1 << 0, /* bounds, life, alignment */
    HA_CHECK_RACE = 1 << 1,
    HA_CHECK_INIT = 1 << 2, /* reads of what nobody wrote */
    HA_CHECK_SYNC = 1 << 3, /* barriers and warp calls */
    HA_CHECK_NAN = 1 << 4,  /* of arithmetic and mathematical functions; on x86-64 */
    HA_CHECK_ALL = (1 << 5) - 1,
    /* These are asked for by name besides `all`. */
    HA_CHECK_LEAKS = 1 << 8,    /* leaks: allocations that are there at the end */
    HA_CHECK_STRICT = 1 << 9,   /* strict: barriers that lanes of the block have left */
    HA_CHECK_EQUAL = 1 << 10,   /* equal: races of writes that all store one value */
    HA_CHECK_RELAXED = 1 << 11, /* relaxed-warps: lanes of a warp do not race */
    HA_CHECK_QUIET = 1 << 12    /* quiet: findings are kept, and not printed */
};

enum ha_check_what {
    HA_FOUND_OUT_OF_BOUNDS = 1,
    HA_FOUND_USE_AFTER_FREE,
    HA_FOUND_UNKNOWN_MEMORY, /* no allocation is near */
    HA_FOUND_READ_ONLY,      /* a write to constants or to memory that is only read */
    HA_FOUND_MISALIGNED,
    HA_FOUND_DOUBLE_FREE,
    HA_FOUND_INVALID_FREE,
    HA_FOUND_LEAK,
    HA_FOUND_RACE,       /* `other` is the earlier side */
    HA_FOUND_EQUAL_RACE, /* both wrote the same value */
    HA_FOUND_UNINITIALISED,
    HA_FOUND_DIVERGED_BARRIER,
    HA_FOUND_LEFT_BARRIER,
    HA_FOUND_ABSENT_LANES,  /* a warp call's mask names lanes that are not there */
    HA_FOUND_ABSENT_SOURCE, /* a shuffle reads from a lane that is not there */
    HA_FOUND_NOT_COOPERATIVE,
    HA_FOUND_NAN,
    HA_FOUND_INFINITY,
    HA_FOUND_KINDS
};

/* What an access does, as bits. */
enum ha_check_access_bits {
    HA_CHECK_READS = 1,
    HA_CHECK_WRITES = 2,
    HA_CHECK_ATOMIC = 4,
    HA_CHECK_FREES = 8,
};

enum ha_check_space {
    HA_SPACE_UNKNOWN,
    HA_SPACE_GLOBAL,
    HA_SPACE_SHARED,
    HA_SPACE_LOCAL,
    HA_SPACE_CONSTANT,
    HA_SPACE_VARIABLE, /* __device__ */
    HA_SPACE_MANAGED,
    HA_SPACE_PINNED,
    HA_SPACE_ARGUMENT,
    HA_SPACE_HEAP, /* malloc and new of kernels */
};

#define HA_CHECK_NOWHERE UINT32_MAX

/* One side of a finding.  Texts are never NULL; an empty one is not known. */
struct ha_check_side {
    uint32_t bits;      /* of enum ha_check_access_bits; 0: no access, and where kernel
                           and call are empty, too, there is no such side */
    uint32_t bytes;     /* of the access */
    const char *kernel; /* demangled; empty: the host */
    const char *call;   /* of the host: the HIP function, else empty */
    const char *function; /* of the kernel's code that the access stands in */
    const char *file;
    const char *text; /* of the line */
    uint32_t line;    /* 0: not known */
    uint32_t column;
    uint32_t block[3]; /* HA_CHECK_NOWHERE: not known */
    uint32_t thread[3];
    const char *stack; /* of the host: a line a frame */
};

/* The allocation or variable that an access belongs to, or is nearest to. */
struct ha_check_memory {
    enum ha_check_space space; /* UNKNOWN: there is none */
    const char *name;          /* of a variable, else empty */
    uint64_t base;
    uint64_t bytes;
    const char *allocated;    /* the call: "hipMalloc" */
    const char *allocated_by; /* its stack, a line a frame */
    const char *freed;        /* empty: it is not */
    const char *freed_by;
};

/* Borrowed for the call that gives it. */
struct ha_check_finding {
    size_t size; /* sizeof this */
    enum ha_check_what what;
    uint64_t number; /* from 1; no two findings of a process have the same */
    uint64_t count;
    int device;
    const char *message; /* one line: what is wrong */
    const char *advice;  /* what to do; may be empty */
    uint64_t address;
    struct ha_check_side here;
    struct ha_check_side other;
    struct ha_check_memory memory;
};

/* What was looked at since the start or the last clear. */
struct ha_check_summary {
    size_t size;        /* sizeof this */
    uint32_t kinds;     /* that are checked */
    uint32_t findings;  /* that differ */
    uint64_t counted;   /* with those that are equal */
    uint64_t dropped;   /* not kept, because there were too many different ones */
    uint64_t launches;  /* with checks */
    uint64_t unchecked; /* without: their kernels were compiled before */
    uint64_t observed;  /* accesses that were looked at when they were made */
    uint64_t proved;    /* accesses that were proved right when a kernel was launched,
                           each in its code once for each lane */
};

typedef int (*ha_check_each)(const struct ha_check_finding *finding, void *context);

enum ha_check_format {
    HA_CHECK_TEXT, /* lines for people, the last one with its end */
    HA_CHECK_JSON, /* one line without its end */
};

/* Exported by libhipadapt_cpu.so, on any thread.  Programs that run on other libraries,
 * too, ask dlsym for them.  Answers are a hipError_t: 0, or 1 (hipErrorInvalidValue)
 * with a text in hipadaptGetErrorText().
 *
 * hipadaptCheckStart: kernels that are compiled from now on are checked for `kinds`,
 * a text as HIPADAPT_CHECK takes it, and for nothing else; so are calls of the host.
 * Fails for a word that it does not know.
 * hipadaptCheckStop: no more.  Findings are kept.
 * hipadaptCheckFindings: calls `each` for each finding in the order in which they were
 * made, until it answers other than 0, and gives that answer.  `each` may call HIP.
 * hipadaptCheckWrite: a finding as text.  `bytes` is that of the room, and then what
 * the text needs with its NUL.  Fails where `text` has less room; NULL only asks.
 * hipadaptCheckSummary: the caller sets `size`.
 * hipadaptCheckClear: forgets findings, and begins to count anew.
 * hipadaptMarkSuballocation: from now on the bytes count as an allocation of their own
 * within a larger one, until they are marked with `bytes` 0: for pools of programs.
 * From the first mark on, the rest of the larger one is no memory to kernels.  Fails
 * for bytes that are not part of one allocation or overlap another part, and for a part
 * that is not there. */
#if defined(__cplusplus)
extern "C" {
#endif
#pragma GCC visibility push(default)

int hipadaptCheckStart(const char *kinds);
int hipadaptCheckStop(void);
int hipadaptCheckFindings(ha_check_each each, void *context);
int hipadaptCheckWrite(const struct ha_check_finding *finding,
                       enum ha_check_format format, char *text, size_t *bytes);
int hipadaptCheckSummary(struct ha_check_summary *summary);
int hipadaptCheckClear(void);
int hipadaptMarkSuballocation(void *begin, size_t bytes);
const char *hipadaptGetErrorText(void); /* of the calling thread's last failure */

#pragma GCC visibility pop
#if defined(__cplusplus)
}
#endif

#endif
