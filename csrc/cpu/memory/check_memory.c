/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "cpu/base/thread.h"
#include "cpu/check/stack.h"
#include "cpu/memory/check_tree.h"
#include "cpu/memory/shadow.h"
#include "cpu/memory/shadow_origin.h"

/* Records of memory that others may have by now. */
#define GONE_MAX 65536u
/* How far an address may be from memory that it is told to be beside: where allocations
 * are, and in what belongs to the process. */
#define NEAR_BYTES (UINT64_C(1) << 20)
#define NEAR_FOREIGN_BYTES UINT64_C(1024)
#define QUARANTINE_MAX_MIB (1L << 24)
#define MIB_SHIFT 20

struct record_list {
    struct ha_record *oldest, *newest;
    uint64_t count;
};

struct name {
    struct name *next;
    char text[];
};

static struct {
    pthread_mutex_t lock;
    struct ha_record *root; /* tree of all but parts; owned */
    struct record_list kept, gone;
    uint64_t kept_bytes;
    struct name *names;       /* owned, for the life of the process */
    _Atomic uint64_t count;   /* records in `root`; written under the lock */
    _Atomic uint64_t pending; /* of them; the same, as is the next one */
    _Atomic uint64_t changes;
    _Atomic uint64_t frees; /* calls of hipFreeAsync */
} checked = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- records; lock held ---- */

static struct record_list *
list_of(const struct ha_record *record)
{
    return record->state == HA_RECORD_KEPT ? &checked.kept : &checked.gone;
}

static void
list_add(struct ha_record *record)
{
    struct record_list *list = list_of(record);

    record->older = list->newest;
    record->newer = NULL;
    *(list->newest != NULL ? &list->newest->newer : &list->oldest) = record;
    list->newest = record;
    list->count++;
    checked.kept_bytes += record->state == HA_RECORD_KEPT ? record->kept_bytes : 0;
}

static void
list_remove(struct ha_record *record)
{
    struct record_list *list = list_of(record);

    *(record->older != NULL ? &record->older->newer : &list->oldest) = record->newer;
    *(record->newer != NULL ? &record->newer->older : &list->newest) = record->older;
    list->count--;
    checked.kept_bytes -= record->state == HA_RECORD_KEPT ? record->kept_bytes : 0;
}

static void drop_parts(struct ha_record *record);

static void
set_pending(struct ha_record *record, bool pending)
{
    if (record->pending != pending) {
        record->pending = pending;
        atomic_fetch_add_explicit(&checked.pending, pending ? 1 : UINT64_MAX,
                                  memory_order_relaxed);
    }
}

static void
drop(struct ha_record *record)
{
    struct ha_record *whole = record->whole;

    set_pending(record, false);

    ha_tree_remove(whole != NULL ? &whole->parts : &checked.root, record);
    if (whole == NULL) {
        atomic_fetch_sub_explicit(&checked.count, 1, memory_order_relaxed);
    }
    if (record->state != HA_RECORD_ALIVE) {
        list_remove(record);
    }
    drop_parts(record);
    free(record);
}

/* Parts have no parts. */
static void
drop_parts(struct ha_record *record)
{
    while (record->parts != NULL) {
        struct ha_record *part = record->parts;
        ha_tree_remove(&record->parts, part);
        if (part->state != HA_RECORD_ALIVE) {
            list_remove(part);
        }
        free(part);
    }
}

static void
set_state(struct ha_record *record, enum ha_record_state state)
{
    if (record->state != HA_RECORD_ALIVE) {
        list_remove(record);
    }
    record->state = state;
    if (state != HA_RECORD_ALIVE) {
        list_add(record);
    }
    while (checked.gone.count > GONE_MAX) {
        drop(checked.gone.oldest);
    }
}

/* What overlaps the bytes, or NULL. */
static struct ha_record *
overlapping(struct ha_record *root, uintptr_t begin, uint64_t bytes)
{
    struct ha_record *record = ha_tree_floor(root, begin + (bytes - 1));
    return record != NULL && record->base + record->bytes > begin ? record : NULL;
}

static struct ha_record *
insert(struct ha_record *whole, uintptr_t begin, uint64_t bytes)
{
    struct ha_record **root = whole != NULL ? &whole->parts : &checked.root;
    struct ha_record *other;

    while ((other = overlapping(*root, begin, bytes)) != NULL) {
        drop(other);
    }
    struct ha_record *record = calloc(1, sizeof *record);
    if (record == NULL) {
        return NULL;
    }
    record->base = begin;
    record->bytes = bytes;
    record->whole = whole;
    record->allocated = ha_thread_self()->function;
    record->allocated_by = ha_check_stack_taken();
    ha_tree_insert(root, record);
    if (whole == NULL) {
        atomic_fetch_add_explicit(&checked.count, 1, memory_order_relaxed);
    }
    return record;
}

static struct ha_record *
alive_at(const void *base)
{
    struct ha_record *record = ha_tree_floor(checked.root, (uintptr_t)base);
    return record != NULL && record->base == (uintptr_t)base &&
                   record->state == HA_RECORD_ALIVE
               ? record
               : NULL;
}

static void
note_change(void)
{
    atomic_fetch_add_explicit(&checked.changes, 1, memory_order_release);
}

static void
set_freed_by(struct ha_record *record)
{
    record->freed = ha_thread_self()->function;
    record->freed_by = ha_check_stack_taken();
}

/* ---- what happens ---- */

static enum ha_check_space
space_of(enum ha_memory_kind kind)
{
    switch (kind) {
    case HA_MEMORY_MANAGED:
        return HA_SPACE_MANAGED;
    case HA_MEMORY_HOST:
    case HA_MEMORY_REGISTERED:
        return HA_SPACE_PINNED;
    case HA_MEMORY_VARIABLE:
        return HA_SPACE_VARIABLE;
    default:
        return HA_SPACE_GLOBAL;
    }
}

static void
describe_range(struct ha_record *record, const struct ha_range *range)
{
    record->space = space_of(range->kind);
    record->kind = (int)range->kind;
    record->device = range->device;
}

/* Memory that only calls and kernels can write begins without values. */
static void
add_shadow(const struct ha_record *record)
{
    struct ha_check_memory memory;

    if ((ha_check_kinds() & (uint32_t)HA_CHECK_INIT) != 0 &&
        record->space == HA_SPACE_GLOBAL && record->kind != HA_MEMORY_ARRAY &&
        record->kind < HA_MEMORY_REGISTERED) {
        ha_checked_tell(record, &memory);
        ha_shadow_add(record->base, record->bytes, ha_origin_memory(&memory));
    }
}

void
ha_checked_add(const struct ha_range *range)
{
    struct ha_record copy = {0};

    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = insert(NULL, (uintptr_t)range->base, range->size);
    if (record != NULL) {
        describe_range(record, range);
        copy = *record;
    }
    pthread_mutex_unlock(&checked.lock);
    if (record != NULL) {
        add_shadow(&copy);
    }
}

void
ha_checked_heap_add(void *base, uint64_t bytes, int device)
{
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = insert(NULL, (uintptr_t)base, bytes > 0 ? bytes : 1);
    if (record != NULL) {
        record->space = HA_SPACE_HEAP;
        record->device = device;
        record->owned = true; /* it lives as long as the device's heap */
        record->allocated = "malloc of a kernel";
        record->allocated_by = NULL;
    }
    pthread_mutex_unlock(&checked.lock);
}

void
ha_checked_heap_freed(const void *base)
{
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = alive_at(base);
    if (record != NULL) {
        record->freed = "free of a kernel";
        set_state(record, HA_RECORD_GONE);
    }
    note_change();
    pthread_mutex_unlock(&checked.lock);
}

/* Lock held; NULL without memory. */
static const char *
keep_name(const char *text)
{
    struct name *name = checked.names;

    while (name != NULL && strcmp(name->text, text) != 0) {
        name = name->next;
    }
    if (name == NULL) {
        size_t bytes = strlen(text) + 1;
        name = malloc(sizeof *name + bytes);
        if (name == NULL) {
            return NULL;
        }
        memcpy(name->text, text, bytes);
        name->next = checked.names;
        checked.names = name;
    }
    return name->text;
}

void
ha_checked_variable(const void *base, const char *text, bool constant)
{
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = alive_at(base);
    if (record != NULL) {
        record->name = keep_name(text);
        record->space = constant ? HA_SPACE_CONSTANT : record->space;
    }
    pthread_mutex_unlock(&checked.lock);
}

void
ha_checked_owned(const void *base)
{
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = alive_at(base);
    if (record != NULL) {
        record->owned = true;
    }
    pthread_mutex_unlock(&checked.lock);
}

/* Nothing was ever remembered: what happens is nothing to us. */
static bool
is_empty(void)
{
    return atomic_load_explicit(&checked.count, memory_order_relaxed) == 0;
}

void
ha_checked_pending(const void *base, uint64_t stream)
{
    if (is_empty()) {
        return;
    }
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = alive_at(base);
    if (record != NULL) {
        set_pending(record, true);
        record->stream = stream;
        record->free_number = atomic_fetch_add(&checked.frees, 1) + 1;
        set_freed_by(record);
    }
    pthread_mutex_unlock(&checked.lock);
}

void
ha_checked_unpending(const void *base)
{
    if (is_empty()) {
        return;
    }
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = alive_at(base);
    if (record != NULL) {
        set_pending(record, false);
        record->free_number = 0;
        record->freed = NULL;
        record->freed_by = NULL;
    }
    pthread_mutex_unlock(&checked.lock);
}

void
ha_checked_freed(const void *base, uint64_t kept_bytes)
{
    if (is_empty()) {
        return;
    }
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = alive_at(base);
    if (record != NULL) {
        if (!record->pending) {
            set_freed_by(record);
            record->free_number = 0;
        }
        set_pending(record, false);
        record->marked = false;
        drop_parts(record);
        record->kept_bytes = kept_bytes;
        set_state(record, kept_bytes > 0 ? HA_RECORD_KEPT : HA_RECORD_GONE);
    } else if (kept_bytes == 0) {
        /* What was kept goes before its time. */
        record = ha_tree_floor(checked.root, (uintptr_t)base);
        if (record != NULL && record->base == (uintptr_t)base) {
            set_state(record, HA_RECORD_GONE);
        }
    }
    note_change();
    pthread_mutex_unlock(&checked.lock);
    ha_shadow_remove((uintptr_t)base);
}

uint64_t
ha_checked_frees(void)
{
    return atomic_load_explicit(&checked.frees, memory_order_relaxed);
}

bool
ha_checked_any_pending(void)
{
    return atomic_load_explicit(&checked.pending, memory_order_relaxed) != 0;
}

void
ha_checked_rest(const void *base)
{
    if (is_empty()) {
        return;
    }
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = alive_at(base);
    if (record != NULL) {
        set_freed_by(record);
        record->free_number = 0;
        record->kept_bytes = 0;
        set_state(record, HA_RECORD_KEPT);
        note_change();
    }
    pthread_mutex_unlock(&checked.lock);
    ha_shadow_remove((uintptr_t)base);
}

void
ha_checked_again(const void *base)
{
    struct ha_record copy = {0};

    if (is_empty()) {
        return;
    }
    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = ha_tree_floor(checked.root, (uintptr_t)base);
    if (record != NULL && record->base == (uintptr_t)base) {
        record->freed = NULL;
        record->freed_by = NULL;
        record->told = false;
        set_state(record, HA_RECORD_ALIVE);
        copy = *record;
    }
    pthread_mutex_unlock(&checked.lock);
    if (copy.base == (uintptr_t)base) {
        add_shadow(&copy);
    }
}

void *
ha_checked_oldest(uint64_t limit, bool *told)
{
    void *base = NULL;

    pthread_mutex_lock(&checked.lock);
    struct ha_record *record = checked.kept.oldest;
    if (record != NULL && checked.kept_bytes > limit) {
        base = (void *)record->base;
        *told = record->told;
        set_state(record, HA_RECORD_GONE);
    }
    pthread_mutex_unlock(&checked.lock);
    return base;
}

uint64_t
ha_checked_quarantine_bytes(void)
{
    return (uint64_t)ha_env_long(HA_ENV_CHECK_QUARANTINE, 0, QUARANTINE_MAX_MIB)
           << MIB_SHIFT;
}

uint64_t
ha_checked_kept_bytes(void)
{
    pthread_mutex_lock(&checked.lock);
    uint64_t bytes = checked.kept_bytes;
    pthread_mutex_unlock(&checked.lock);
    return bytes;
}

/* ---- parts ---- */

/* The allocation around a part, remembered from now on if it is from before the check.
 * Lock held; not in between. */
static struct ha_record *
whole_of(const void *begin)
{
    struct ha_range range;
    struct ha_record *whole = ha_tree_holder(checked.root, (uintptr_t)begin);

    if (whole != NULL && whole->state != HA_RECORD_GONE) {
        return whole->state == HA_RECORD_ALIVE ? whole : NULL;
    }
    pthread_mutex_unlock(&checked.lock);
    bool found = ha_memory_find(begin, &range);
    pthread_mutex_lock(&checked.lock);
    whole = found ? insert(NULL, (uintptr_t)range.base, range.size) : NULL;
    if (whole != NULL) {
        describe_range(whole, &range);
        whole->allocated = NULL;
        whole->allocated_by = NULL;
    }
    return whole;
}

static bool
part_free(const struct ha_record *whole, uintptr_t begin)
{
    struct ha_record *part = ha_tree_floor(whole->parts, begin);

    if (part == NULL || part->base != begin || part->state != HA_RECORD_ALIVE) {
        return false;
    }
    set_freed_by(part);
    set_state(part, HA_RECORD_GONE);
    return true;
}

static bool
part_add(struct ha_record *whole, uintptr_t begin, uint64_t bytes)
{
    if (bytes > whole->bytes - (begin - whole->base)) {
        return false;
    }
    /* What was freed makes room; what is alive does not. */
    for (uintptr_t at = begin + bytes;;) {
        struct ha_record *other = overlapping(whole->parts, begin, at - begin);
        if (other == NULL) {
            break;
        }
        if (other->state == HA_RECORD_ALIVE) {
            return false;
        }
        if (other->base <= begin) {
            break;
        }
        at = other->base;
    }
    struct ha_record *part = insert(whole, begin, bytes);
    if (part != NULL) {
        part->space = whole->space;
        part->kind = whole->kind;
        part->device = whole->device;
        whole->marked = true;
    }
    return part != NULL;
}

bool
ha_checked_mark(const void *begin, uint64_t bytes)
{
    pthread_mutex_lock(&checked.lock);
    struct ha_record *whole = whole_of(begin);
    bool done =
        whole != NULL && (bytes == 0 ? part_free(whole, (uintptr_t)begin)
                                     : part_add(whole, (uintptr_t)begin, bytes));
    note_change();
    pthread_mutex_unlock(&checked.lock);
    return done;
}

/* ---- questions ---- */

uint64_t
ha_checked_changes(void)
{
    return atomic_load_explicit(&checked.changes, memory_order_acquire) +
           ha_memory_changes();
}

static bool
holds(const struct ha_record *record, uintptr_t at, uint64_t bytes)
{
    uint64_t offset = at - record->base;
    return at >= record->base && offset < record->bytes &&
           bytes <= record->bytes - offset;
}

/* Of two, which may be NULL: the nearer one; if both are as near, what is alive. */
static struct ha_record *
nearer(struct ha_record *a, struct ha_record *b, uintptr_t at, uint64_t bytes)
{
    if (a == NULL || b == NULL) {
        return a != NULL ? a : b;
    }
    uint64_t to_a = ha_record_distance(a, at, bytes);
    uint64_t to_b = ha_record_distance(b, at, bytes);
    if (to_a == to_b) {
        return b->state == HA_RECORD_ALIVE && a->state != HA_RECORD_ALIVE ? b : a;
    }
    return to_a < to_b ? a : b;
}

static struct ha_record *
nearest(struct ha_record *root, uintptr_t at, uint64_t bytes)
{
    struct ha_record *holder = ha_tree_holder(root, at);

    return holder != NULL
               ? holder
               : nearer(ha_tree_floor(root, at), ha_tree_above(root, at), at, bytes);
}

/* What a record or one of its parts says. Lock held. */
static bool
answer(struct ha_record *found, uintptr_t at, uint64_t bytes, bool tell,
       struct ha_record *record)
{
    bool inside = found->state == HA_RECORD_ALIVE && holds(found, at, bytes);

    if (found->marked) {
        struct ha_record *part = nearest(found->parts, at, bytes);
        if (part != NULL) {
            found = part;
            inside = part->state == HA_RECORD_ALIVE && holds(part, at, bytes);
        } else {
            inside = false;
        }
    }
    found->told = found->told || tell;
    *record = *found;
    return inside;
}

/* Of memory from before the check. */
static bool
answer_old(const struct ha_range *range, uintptr_t at, uint64_t bytes,
           struct ha_record *record)
{
    struct ha_range more;

    *record = (struct ha_record){.base = (uintptr_t)range->base, .bytes = range->size};
    describe_range(record, range);
    /* Mapped allocations that lie side by side are one piece of memory. */
    while (range->kind == HA_MEMORY_MAPPED && !holds(record, at, bytes) &&
           ha_memory_find((void *)(record->base + record->bytes), &more) &&
           more.kind == HA_MEMORY_MAPPED) {
        record->bytes = (uintptr_t)more.base + more.size - record->base;
    }
    return holds(record, at, bytes);
}

/* Whether the bytes are in memory; a copy of what holds the first one, or is nearest,
 * without a space if that is far. */
static bool
ask(uintptr_t at, uint64_t bytes, bool tell, struct ha_record *record)
{
    struct ha_range range;
    struct ha_record old;

    pthread_mutex_lock(&checked.lock);
    struct ha_record *found = ha_tree_holder(checked.root, at);
    if (found != NULL && found->state != HA_RECORD_GONE) {
        bool inside = answer(found, at, bytes, tell, record);
        pthread_mutex_unlock(&checked.lock);
        return inside;
    }
    pthread_mutex_unlock(&checked.lock);
    if (ha_memory_find((const void *)at, &range) && range.kind != HA_MEMORY_RESERVED) {
        return answer_old(&range, at, bytes, record);
    }
    bool any = ha_memory_near((const void *)at, &range);
    bool owned = ha_memory_owns((const void *)at, 1);
    if (any) {
        (void)answer_old(&range, at, bytes, &old);
    }
    *record = (struct ha_record){.state = HA_RECORD_GONE};
    pthread_mutex_lock(&checked.lock);
    found = nearest(checked.root, at, bytes);
    found = any && (found == NULL || found->base != old.base)
                ? nearer(found, &old, at, bytes)
                : found;
    if (found != NULL) {
        uint64_t distance = ha_record_distance(found, at, bytes);
        if (owned ? distance <= NEAR_BYTES || distance <= found->bytes
                  : distance <= NEAR_FOREIGN_BYTES) {
            (void)answer(found, at, bytes, tell, record);
        }
    }
    pthread_mutex_unlock(&checked.lock);
    return false;
}

bool
ha_checked_find(uintptr_t at, uint64_t bytes, struct ha_checked_range *range)
{
    struct ha_record record;
    bool inside = ask(at, bytes, false, &record);

    *range = (struct ha_checked_range){.begin = record.base,
                                       .bytes = record.bytes,
                                       .space = record.space,
                                       .device = record.device,
                                       .freed = record.space != HA_SPACE_UNKNOWN &&
                                                record.state != HA_RECORD_ALIVE,
                                       .free_number = record.free_number};
    return inside;
}

static const char *
text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

void
ha_checked_describe(uintptr_t at, uint64_t bytes, struct ha_check_memory *memory)
{
    struct ha_record record;

    (void)ask(at, bytes, true, &record);
    ha_checked_tell(&record, memory);
}

void
ha_checked_tell(const struct ha_record *record, struct ha_check_memory *memory)
{
    *memory = (struct ha_check_memory){
        .space = record->space,
        .name = text_or_empty(record->name),
        .base = record->base,
        .bytes = record->bytes,
        .allocated = text_or_empty(record->allocated),
        .allocated_by = ha_check_stack_text(record->allocated_by),
        .freed = text_or_empty(record->freed),
        .freed_by = ha_check_stack_text(record->freed_by),
    };
}

enum ha_check_what
ha_checked_what(uintptr_t at, uint64_t bytes)
{
    struct ha_checked_range range;

    (void)ha_checked_find(at, bytes, &range);
    if (range.space == HA_SPACE_UNKNOWN) {
        return HA_FOUND_UNKNOWN_MEMORY;
    }
    return range.freed && at >= range.begin && at - range.begin < range.bytes
               ? HA_FOUND_USE_AFTER_FREE
               : HA_FOUND_OUT_OF_BOUNDS;
}

void
ha_checked_relation(uintptr_t at, uint64_t bytes, const struct ha_check_memory *memory,
                    char text[HA_CHECKED_TEXT_BYTES])
{
    const char *of = memory->name[0] != '\0' ? memory->name : memory->allocated;
    const char *gone = memory->freed[0] != '\0' ? ", freed by " : "";
    uintptr_t end = memory->base + memory->bytes;
    char place[64];

    if (memory->space == HA_SPACE_UNKNOWN) {
        (void)snprintf(text, HA_CHECKED_TEXT_BYTES,
                       "at 0x%zx, near no memory that HIP knows", (size_t)at);
        return;
    }
    if (at >= end) {
        (void)snprintf(place, sizeof place, "%zu bytes past the end of",
                       (size_t)(at - end));
    } else if (at + bytes <= memory->base) {
        (void)snprintf(place, sizeof place, "%zu bytes before",
                       (size_t)(memory->base - at));
    } else if (at < memory->base) {
        (void)snprintf(place, sizeof place, "from %zu bytes before",
                       (size_t)(memory->base - at));
    } else if (at + bytes > end) {
        (void)snprintf(place, sizeof place, "running %zu bytes past the end of",
                       (size_t)(at + bytes - end));
    } else {
        (void)snprintf(place, sizeof place, "from byte %zu of",
                       (size_t)(at - memory->base));
    }
    (void)snprintf(text, HA_CHECKED_TEXT_BYTES,
                   "%s the %zu bytes at 0x%zx%s%.40s%s%.24s", place,
                   (size_t)memory->bytes, (size_t)memory->base,
                   of[0] != '\0' ? " of " : "", of, gone, memory->freed);
}

bool
ha_checked_look(uintptr_t at, bool tell, struct ha_record *record)
{
    pthread_mutex_lock(&checked.lock);
    struct ha_record *found = ha_tree_holder(checked.root, at);
    if (found != NULL && found->marked) {
        struct ha_record *part = ha_tree_holder(found->parts, at);
        found = part != NULL ? part : found;
    }
    if (found != NULL) {
        found->told = found->told || tell;
        *record = *found;
    }
    pthread_mutex_unlock(&checked.lock);
    return found != NULL;
}

void
ha_checked_each_alive(void (*each)(const struct ha_record *record))
{
    struct ha_record copy;
    uintptr_t at = 0;

    for (bool more = true; more;) {
        pthread_mutex_lock(&checked.lock);
        const struct ha_record *record = ha_tree_above(checked.root, at);
        while (record != NULL &&
               (record->state != HA_RECORD_ALIVE || record->pending)) {
            record = ha_tree_above(checked.root, record->base);
        }
        more = record != NULL;
        if (more) {
            copy = *record;
            at = copy.base;
        }
        pthread_mutex_unlock(&checked.lock);
        if (more) {
            each(&copy);
        }
    }
}

void
ha_checked_after_fork_child(void)
{
    struct name *names = checked.names;

    memset(&checked, 0, sizeof checked);
    checked.names = names;
    pthread_mutex_init(&checked.lock, NULL);
    ha_shadow_after_fork_child();
    ha_origin_after_fork_child();
}
