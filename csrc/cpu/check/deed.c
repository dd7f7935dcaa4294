/* SPDX-License-Identifier: MIT */
#include "cpu/check/deed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/check/finding.h"

#define PLACES_MOST 64u /* of two operations that race; further ones are not told */
#define MESSAGE_BYTES 192

struct ha_deed {
    struct ha_deed *next; /* that was submitted later, or is remembered behind it */
    struct ha_doer doer;
    struct ha_past *past; /* owned */
    uint32_t line;
    uint64_t number;
    bool over;                   /* its accesses are known */
    struct ha_check_side *sites; /* owned */
    uint32_t site_count, site_room;
    struct ha_layer reads, rest;
    bool looked;
    struct ha_check_memory memory; /* if it was looked at */
};

/* What was submitted and not looked at yet. */
struct item {
    struct item *next;
    struct ha_deed *deed;   /* owned, or NULL */
    struct ha_past *waited; /* owned: the host knows it; or NULL */
    uintptr_t forget_begin; /* else: these bytes */
    uint64_t forget_bytes;
};

/* The lock guards all of it. */
static struct {
    pthread_mutex_t lock;
    struct item *first, **last;
    struct ha_deed *remembered, **newest; /* in the order of submission */
    ha_deed_describe describe;
} deeds = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .last = &deeds.first,
           .newest = &deeds.remembered};

void
ha_deeds_init(ha_deed_describe describe)
{
    deeds.describe = describe;
}

/* ---- making ---- */

struct ha_deed *
ha_deed_new(const struct ha_doer *doer)
{
    struct ha_deed *deed = calloc(1, sizeof *deed);

    if (deed != NULL) {
        deed->doer = *doer;
    }
    return deed;
}

void
ha_deed_drop(struct ha_deed *deed)
{
    if (deed != NULL) {
        ha_past_release(deed->past);
        ha_layer_release(&deed->reads);
        ha_layer_release(&deed->rest);
        free(deed->sites);
        free(deed);
    }
}

uint32_t
ha_deed_site(struct ha_deed *deed, const struct ha_check_side *side)
{
    if (deed->site_count == deed->site_room) {
        uint32_t room = deed->site_room > 0 ? 2 * deed->site_room : 4;
        struct ha_check_side *sites = realloc(deed->sites, room * sizeof *sites);
        if (sites == NULL) {
            return UINT32_MAX;
        }
        deed->sites = sites;
        deed->site_room = room;
    }
    deed->sites[deed->site_count] = *side;
    return deed->site_count++;
}

void
ha_deed_add(struct ha_deed *deed, const struct ha_stretch *cell)
{
    struct ha_layer *layer =
        (enum ha_way)cell->way == HA_WAY_READ ? &deed->reads : &deed->rest;

    if (cell->site < deed->site_count) {
        (void)ha_layer_add(layer, cell); /* without memory it is not compared */
    }
}

void
ha_deed_look(struct ha_deed *deed, uintptr_t at)
{
    if (deed != NULL && deeds.describe != NULL) {
        deeds.describe(at, 1, &deed->memory);
        deed->looked = true;
    }
}

/* ---- telling ---- */

/* Two deeds that are compared. */
struct pair {
    const struct ha_deed *here, *other;
    struct {
        uint32_t here, other;
    } told[PLACES_MOST];
    uint32_t told_count;
};

static struct ha_check_side
side_of(const struct ha_deed *deed, const struct ha_stretch *stretch, uintptr_t at)
{
    struct ha_check_side side = deed->sites[stretch->site];
    const struct ha_doer *doer = &deed->doer;
    const uint32_t *grid = doer->grid, *block = doer->block;

    side.kernel = doer->kernel;
    side.call = doer->call;
    side.stack = doer->stack;
    if (doer->kernel == NULL) {
        for (unsigned axis = 0; axis < 3; axis++) {
            side.block[axis] = side.thread[axis] = HA_CHECK_NOWHERE;
        }
        return side;
    }
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    uint64_t all = ha_stretch_thread(stretch, at);
    uint64_t number = all / threads;
    uint32_t lane = (uint32_t)(all % threads);
    side.block[0] = (uint32_t)(number % grid[0]);
    side.block[1] = (uint32_t)(number / grid[0] % grid[1]);
    side.block[2] = (uint32_t)(number / grid[0] / grid[1]);
    side.thread[0] = lane % block[0];
    side.thread[1] = lane / block[0] % block[1];
    side.thread[2] = lane / block[0] / block[1];
    return side;
}

static const char *
word_of(const struct ha_check_side *side)
{
    return (side->bits & HA_CHECK_FREES) != 0    ? "free"
           : (side->bits & HA_CHECK_ATOMIC) != 0 ? "atomic access"
           : (side->bits & HA_CHECK_WRITES) != 0 ? "write"
                                                 : "read";
}

static void
tell(const struct pair *pair, const struct ha_stretch *here,
     const struct ha_stretch *other, uintptr_t at)
{
    char message[MESSAGE_BYTES];
    struct ha_check_finding found = {
        .what = HA_FOUND_RACE,
        .device = pair->here->doer.device,
        .address = at,
        .here = side_of(pair->here, here, at),
        .other = side_of(pair->other, other, at),
        .message = message,
        .advice = "let the stream of the later one wait for an event that is recorded "
                  "behind the earlier one, or let the host wait in between",
    };

    (void)snprintf(message, sizeof message,
                   "race: %s by %s after the %s by %s, and nothing orders the two",
                   word_of(&found.here),
                   found.here.call != NULL ? found.here.call : "a kernel",
                   word_of(&found.other),
                   found.other.call != NULL ? found.other.call : "another kernel");
    if (pair->here->looked || pair->other->looked) {
        found.memory = pair->here->looked ? pair->here->memory : pair->other->memory;
    } else if (deeds.describe != NULL) {
        deeds.describe(at, 1, &found.memory);
    }
    ha_finding_add(&found);
}

static void
meet(void *context, const struct ha_stretch *here, const struct ha_stretch *other,
     uintptr_t at)
{
    struct pair *pair = context;

    if (!ha_ways_race((enum ha_way)here->way, (enum ha_way)other->way) ||
        pair->told_count == PLACES_MOST) {
        return;
    }
    for (uint32_t i = 0; i < pair->told_count; i++) {
        if (pair->told[i].here == here->site && pair->told[i].other == other->site) {
            return;
        }
    }
    pair->told[pair->told_count].here = here->site;
    pair->told[pair->told_count++].other = other->site;
    tell(pair, here, other, at);
}

static void
compare(const struct ha_deed *here, const struct ha_deed *other)
{
    struct pair pair = {.here = here, .other = other, .told_count = 0};

    if (here->doer.team != 0 && here->doer.team == other->doer.team) {
        return;
    }
    ha_layers_meet(&here->rest, &other->rest, meet, &pair);
    ha_layers_meet(&here->rest, &other->reads, meet, &pair);
    ha_layers_meet(&here->reads, &other->rest, meet, &pair);
}

/* ---- looking; lock held ---- */

static bool
has_nothing(const struct ha_deed *deed)
{
    return deed->reads.count == 0 && deed->rest.count == 0;
}

/* Takes *link out of those that are remembered. */
static void
forget(struct ha_deed **link)
{
    struct ha_deed *deed = *link;

    *link = deed->next;
    if (deeds.newest == &deed->next) {
        deeds.newest = link;
    }
    ha_deed_drop(deed);
}

static bool
is_apart(const struct ha_layer *a, const struct ha_layer *b)
{
    return a->count == 0 || b->count == 0 ||
           a->items[a->count - 1].end <= b->items[0].begin ||
           b->items[b->count - 1].end <= a->items[0].begin;
}

static void
cover(struct ha_layer *layer, const struct ha_layer *later)
{
    if (!is_apart(layer, later)) {
        (void)ha_layer_cover(layer, later); /* without memory it stays */
    }
}

/* Compares it with what is remembered, and remembers it. */
static void
look_at(struct ha_deed *deed)
{
    for (struct ha_deed **link = &deeds.remembered; *link != NULL;) {
        struct ha_deed *earlier = *link;
        if (!ha_past_has(deed->past, earlier->line, earlier->number)) {
            compare(deed, earlier);
        } else {
            cover(&earlier->reads, &deed->reads);
            cover(&earlier->reads, &deed->rest);
            cover(&earlier->rest, &deed->reads);
            cover(&earlier->rest, &deed->rest);
        }
        if (has_nothing(earlier)) {
            forget(link);
        } else {
            link = &earlier->next;
        }
    }
    if (deed->number == 0 || has_nothing(deed)) {
        ha_deed_drop(deed);
        return;
    }
    deed->next = NULL;
    *deeds.newest = deed;
    deeds.newest = &deed->next;
}

static void
forget_waited(const struct ha_past *waited)
{
    for (struct ha_deed **link = &deeds.remembered; *link != NULL;) {
        if (ha_past_has(waited, (*link)->line, (*link)->number)) {
            forget(link);
        } else {
            link = &(*link)->next;
        }
    }
}

static void
forget_bytes(uintptr_t begin, uint64_t bytes)
{
    struct ha_stretch range = {
        .begin = begin, .end = begin + bytes, .way = HA_WAY_WRITE};
    const struct ha_layer all = {.items = &range, .count = 1};

    for (struct ha_deed **link = &deeds.remembered; *link != NULL;) {
        cover(&(*link)->reads, &all);
        cover(&(*link)->rest, &all);
        if (has_nothing(*link)) {
            forget(link);
        } else {
            link = &(*link)->next;
        }
    }
}

void
ha_deeds_settle(void)
{
    pthread_mutex_lock(&deeds.lock);
    for (struct item *item = deeds.first;
         item != NULL && (item->deed == NULL || item->deed->over); item = deeds.first) {
        deeds.first = item->next;
        if (deeds.first == NULL) {
            deeds.last = &deeds.first;
        }
        if (item->deed != NULL) {
            look_at(item->deed);
        } else if (item->waited != NULL) {
            forget_waited(item->waited);
            ha_past_release(item->waited);
        } else {
            forget_bytes(item->forget_begin, item->forget_bytes);
        }
        free(item);
    }
    pthread_mutex_unlock(&deeds.lock);
}

/* ---- submitting ---- */

/* False: no memory. */
static bool
put(const struct item *given)
{
    struct item *item = malloc(sizeof *item);

    if (item == NULL) {
        return false;
    }
    *item = *given;
    item->next = NULL;
    pthread_mutex_lock(&deeds.lock);
    *deeds.last = item;
    deeds.last = &item->next;
    pthread_mutex_unlock(&deeds.lock);
    return true;
}

bool
ha_deed_submit(struct ha_deed *deed, struct ha_past *past, uint32_t line,
               uint64_t number)
{
    deed->past = ha_past_keep(past);
    deed->line = line;
    deed->number = number;
    deed->next = NULL;
    if (put(&(struct item){.deed = deed})) {
        return true;
    }
    ha_deed_drop(deed);
    return false;
}

void
ha_deed_end(struct ha_deed *deed)
{
    pthread_mutex_lock(&deeds.lock);
    deed->over = true;
    pthread_mutex_unlock(&deeds.lock);
}

void
ha_deeds_waited(struct ha_past *past)
{
    if (past != NULL && !put(&(struct item){.waited = ha_past_keep(past)})) {
        ha_past_release(past); /* what is known stays, which others know as well */
    }
}

void
ha_deeds_forget(uintptr_t begin, uint64_t bytes)
{
    (void)put(&(struct item){.forget_begin = begin, .forget_bytes = bytes});
}

size_t
ha_deeds_remembered(void)
{
    size_t count = 0;

    pthread_mutex_lock(&deeds.lock);
    for (const struct ha_deed *deed = deeds.remembered; deed != NULL;
         deed = deed->next) {
        count += deed->reads.count + deed->rest.count;
    }
    pthread_mutex_unlock(&deeds.lock);
    return count;
}

void
ha_deeds_after_fork_child(void)
{
    (void)pthread_mutex_init(&deeds.lock, NULL); /* its holder isn't here */
    deeds.first = NULL; /* the memory stays: the parent may have been changing it */
    deeds.last = &deeds.first;
    deeds.remembered = NULL;
    deeds.newest = &deeds.remembered;
}
