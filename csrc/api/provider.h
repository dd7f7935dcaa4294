/* SPDX-License-Identifier: MIT */
/* The provider: the library that every HIP and hiprtc call goes to.
 *
 * A process has one provider, chosen at the first call and kept until the process ends
 * (its libraries are never unloaded).  HIPADAPT_PROVIDER says which: `amd`, `cpu`, the
 * path of a HIP library, or `auto`: a libamdhip64 that the process has loaded already,
 * else one that is installed and reports a device, else the CPU device of this package.
 *
 * ha_calls is the call table: one pointer for each entry point, NULL until the provider
 * is there and where it lacks the symbol.  It is published once (adapters/together.h),
 * by the first thread whose load is done.
 *
 * Everything here needs the GIL, which is released while libraries are loaded and
 * probed. The load lock (provider.c) is only taken without the GIL. */
#ifndef HA_API_PROVIDER_H
#define HA_API_PROVIDER_H

#include <Python.h>

#include <stdbool.h>

#include "adapters/together.h"
#include "api/generated/calls.h"

enum ha_provider_kind {
    HA_PROVIDER_NONE, /* not loaded yet */
    HA_PROVIDER_AMD,
    HA_PROVIDER_CPU,
    HA_PROVIDER_PATH, /* named by HIPADAPT_PROVIDER */
};

struct ha_provider {
    enum ha_provider_kind kind;
    void *hip;        /* dlopen handle; never closed */
    void *rtc;        /* the same or another; NULL where there is no hiprtc */
    int version;      /* of hipRuntimeGetVersion; 0 where it failed */
    char path[1024];  /* of `hip` */
    char why[256];    /* one sentence */
    char tried[1536]; /* places that did not do, "; " between; "" = the first one did */
    const char *(*error_text)(void);
    int (*lacks)(const char *function);
    /* CPU device only: */
    void (*shutdown)(void);
    void (*drain)(void);
    void (*keeps)(const void *dst, const void *src);
    void (*own_questions)(int begins); /* csrc/cpu/queue/order.h */
    void (*owns)(const void *ptr);     /* or NULL; see csrc/cpu/entry/runtime.h */
    void (*image_size)(const void *image, size_t bytes);
};

/* Borrowed and constant from then on; loads the provider if need be.  NULL with
 * RuntimeError where no provider can be loaded; the next call tries again. */
const struct ha_provider *ha_provider_get(void);

/* Borrowed; NULL where no provider is loaded yet.  No exception. */
const struct ha_provider *ha_provider_loaded(void);

/* For a call whose pointer in ha_calls is NULL: loads the provider if need be.  1: the
 * pointer is there now; 0: the provider lacks the symbol, and the core error text says
 * so; -1: exception. */
int ha_provider_need(enum ha_call call);

/* The same for the usual case, in which the pointer is there. */
#define HA_READY(symbol)                                                               \
    (HA_READ(ha_calls.symbol) != NULL ? 1 : ha_provider_need(HA_CALL_##symbol))

/* What is known about this thread's last failure: the provider's text, or ours where a
 * symbol was missing since.  Borrowed until the thread's next call; never NULL. */
const char *ha_provider_error_text(void);

/* Whether other code of this process may have the loaded provider too, as libamdhip64:
 * then it is not ours to shut down. */
bool ha_provider_shared(void);

/* Before a fork, with the GIL: waits for other threads that import what every call of
 * HIP needs, since a child would wait for them forever; 0, or -1 with an exception. */
int ha_provider_finish_imports(void);

/* Makes forks wait until no thread loads a provider; 0, or -1 without memory. */
int ha_provider_watch_forks(void);

/* Where the provider has the symbol (of any name), its address, else NULL.  No
 * exception. */
void *ha_provider_symbol(const char *symbol);

#endif
