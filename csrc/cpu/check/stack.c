/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/check/stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/thread.h"
#include "cpu/check/python_stack.h"

#define DEPTH_MAX 32
#define LINES_BYTES 4096u
#define LINE_BYTES 256u
#define BUCKETS 4096u

struct ha_check_stack {
    struct ha_check_stack *next;
    uint64_t hash;
    const char *function;       /* of HIP; constant text */
    _Atomic(const char *) text; /* owned; NULL until it is made */
    uint32_t depth;
    uint32_t line_bytes;
    void *frames[DEPTH_MAX];
    char lines[]; /* of the language binding */
};

static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the table */
static struct ha_check_stack *buckets[BUCKETS];                /* owned */
static uint32_t stack_count;
static _Atomic(ha_check_stack_lines) binding;

/* The stack of the thread's newest call that took one. */
static __thread struct {
    const char *function;
    struct ha_check_stack *stack;
} newest;

void
ha_check_stack_set_lines(ha_check_stack_lines lines)
{
    atomic_store(&binding, lines);
}

void
ha_check_stack_after_fork_child(void)
{
    pthread_mutex_init(&stack_lock, NULL);
}

static uint64_t
hash_of(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
    return hash;
}

/* ---- keeping ---- */

static bool
is_same(const struct ha_check_stack *stack, const struct ha_check_stack *key,
        const char *lines)
{
    return stack->hash == key->hash && stack->function == key->function &&
           stack->depth == key->depth && stack->line_bytes == key->line_bytes &&
           memcmp(stack->frames, key->frames, key->depth * sizeof key->frames[0]) ==
               0 &&
           memcmp(stack->lines, lines, key->line_bytes) == 0;
}

/* The kept stack that is equal. */
static struct ha_check_stack *
keep(struct ha_check_stack *key, const char *lines)
{
    key->hash = hash_of(UINT64_C(0xcbf29ce484222325), key->frames,
                        key->depth * sizeof key->frames[0]);
    key->hash = hash_of(key->hash, lines, key->line_bytes);
    struct ha_check_stack **bucket = &buckets[key->hash % BUCKETS];
    pthread_mutex_lock(&stack_lock);
    struct ha_check_stack *found = *bucket;
    while (found != NULL && !is_same(found, key, lines)) {
        found = found->next;
    }
    if (found == NULL && stack_count < HA_STACKS_MAX) {
        found = malloc(sizeof *found + key->line_bytes + 1);
        if (found != NULL) {
            *found = *key;
            memcpy(found->lines, lines, key->line_bytes);
            found->lines[key->line_bytes] = '\0';
            found->next = *bucket;
            *bucket = found;
            stack_count++;
        }
    }
    pthread_mutex_unlock(&stack_lock);
    return found;
}

/* ---- names ---- */

struct place {
    Dl_info info;
    bool named; /* the address is in the symbol, not behind it */
};

static struct place
place_of(const void *frame)
{
    struct place place = {.named = false};
    const ElfW(Sym) *symbol = NULL;
    uintptr_t call = (uintptr_t)frame - 1; /* it returns behind the call */

    if (dladdr1((const void *)call, &place.info, (void **)&symbol, RTLD_DL_SYMENT) ==
        0) {
        place.info = (Dl_info){.dli_fname = NULL};
    } else if (place.info.dli_sname != NULL && symbol != NULL) {
        place.named = call - (uintptr_t)place.info.dli_saddr < symbol->st_size;
    }
    return place;
}

/* The first frame that is the program's: behind the function of HIP. */
static uint32_t
first_frame(const struct ha_check_stack *stack)
{
    Dl_info own;
    uint32_t first = 0;
    uint32_t at = 0;

    if (dladdr((const void *)ha_check_stack_take, &own) == 0) {
        return 0;
    }
    for (; at < stack->depth; at++) {
        struct place place = place_of(stack->frames[at]);
        if (place.info.dli_fbase != own.dli_fbase) {
            break;
        }
        if (place.named && stack->function != NULL &&
            strcmp(place.info.dli_sname, stack->function) == 0) {
            first = at + 1;
        }
    }
    /* Calls at the end of functions leave no frame.  In a program that has this library
     * in itself, nothing tells its frames from ours. */
    bool whole =
        stack->depth > 0 &&
        place_of(stack->frames[stack->depth - 1]).info.dli_fbase == own.dli_fbase;
    return first > 0 || whole ? first : at;
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* A line without its end; its length. */
static size_t
write_frame(const void *frame, const struct place *place, char line[LINE_BYTES])
{
    const Dl_info *info = &place->info;
    int written;

    if (info->dli_fname == NULL) {
        written = snprintf(line, LINE_BYTES, "%p", frame);
    } else if (place->named) {
        written = snprintf(line, LINE_BYTES, "%.160s+0x%zx (%.60s)", info->dli_sname,
                           (size_t)((uintptr_t)frame - (uintptr_t)info->dli_saddr),
                           base_name(info->dli_fname));
    } else {
        written = snprintf(line, LINE_BYTES, "%.60s+0x%zx", base_name(info->dli_fname),
                           (size_t)((uintptr_t)frame - (uintptr_t)info->dli_fbase));
    }
    return written > 0 && (size_t)written < LINE_BYTES ? (size_t)written : 0;
}

/* Below the frames of Python stand those of its interpreter, which say nothing. */
static bool
is_interpreter(const struct place *place)
{
    const char *name = place->named ? place->info.dli_sname : "";
    const char *path = place->info.dli_fname;
    return strncmp(name, "Py", 2) == 0 || strncmp(name, "_Py", 3) == 0 ||
           (path != NULL && strncmp(base_name(path), "libpython", 9) == 0);
}

/* Nor do those between it and this library. */
static bool
is_between(const struct place *place)
{
    static const char *const between[] = {"_core.", "_ctypes.", "libffi."};
    const char *path = place->info.dli_fname;
    bool found = false;

    for (size_t i = 0; path != NULL && i < sizeof between / sizeof between[0]; i++) {
        found = found || strncmp(base_name(path), between[i], strlen(between[i])) == 0;
    }
    return found;
}

/* Owned; NULL without memory. */
static char *
write_text(const struct ha_check_stack *stack)
{
    char *text = malloc(stack->line_bytes + (size_t)stack->depth * LINE_BYTES + 1);
    char line[LINE_BYTES];
    size_t used = stack->line_bytes;

    if (text == NULL) {
        return NULL;
    }
    memcpy(text, stack->lines, used);
    for (uint32_t at = first_frame(stack); at < stack->depth; at++) {
        struct place place = place_of(stack->frames[at]);
        if (stack->line_bytes > 0 && is_interpreter(&place)) {
            break;
        }
        if (stack->line_bytes > 0 && is_between(&place)) {
            continue;
        }
        size_t bytes = write_frame(stack->frames[at], &place, line);
        memcpy(text + used, line, bytes);
        used += bytes;
        text[used++] = '\n';
    }
    text[used > 0 ? used - 1 : 0] = '\0';
    return text;
}

/* ---- taking ---- */

/* Gives a new stack its text; of two threads that do, one is first. */
static void
name_frames(struct ha_check_stack *stack)
{
    const char *text = NULL;

    if (stack != NULL && atomic_load(&stack->text) == NULL) {
        char *made = write_text(stack);
        if (!atomic_compare_exchange_strong(&stack->text, &text, made)) {
            free(made);
        }
    }
}

const struct ha_check_stack *
ha_check_stack_take(void)
{
    struct ha_thread *thread = ha_thread_self();
    const struct ha_thread before = *thread;
    ha_check_stack_lines lines_of = atomic_load(&binding);
    struct ha_check_stack key = {.function = before.function};
    char lines[LINES_BYTES];

    size_t bytes = lines_of != NULL ? lines_of(lines, sizeof lines) : 0;
    if (bytes == 0) {
        bytes = ha_python_stack(lines, sizeof lines);
    }
    bytes = bytes < sizeof lines ? bytes : 0;
    key.line_bytes = (uint32_t)ha_python_stack_of_program(lines, bytes);
    *thread = before; /* the binding may have called HIP */
    int depth = backtrace(key.frames, DEPTH_MAX);
    key.depth = depth > 0 ? (uint32_t)depth : 0;
    newest.function = before.function;
    newest.stack = keep(&key, lines);
    name_frames(newest.stack);
    return newest.stack;
}

const struct ha_check_stack *
ha_check_stack_taken(void)
{
    return newest.function != NULL && newest.function == ha_thread_self()->function
               ? newest.stack
               : NULL;
}

const char *
ha_check_stack_text(const struct ha_check_stack *stack)
{
    const char *text =
        stack != NULL ? atomic_load_explicit(&stack->text, memory_order_acquire) : NULL;
    return text != NULL ? text : "";
}
