/* SPDX-License-Identifier: MIT */
#include "cpu/check/finding.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/check/kernel_name.h"
#include "cpu/check/kind.h"
#include "cpu/check/output.h"
#include "cpu/check/source_line.h"

#define TEXTS_MAX 20u
#define LOCK_TRIES 1000u /* a millisecond each */

static pthread_mutex_t finding_lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static struct ha_check_finding *findings[HA_FINDINGS_MAX]; /* owned, with their texts */
static uint32_t finding_count;
static uint64_t counted, dropped;
static uint64_t numbered;              /* in this process */
static struct ha_source_line lines[2]; /* of the finding that is added */

/* The texts of a finding; how many there are. */
static uint32_t
texts_of(struct ha_check_finding *found, const char **texts[TEXTS_MAX])
{
    struct ha_check_side *sides[2] = {&found->here, &found->other};
    uint32_t count = 0;

    texts[count++] = &found->message;
    texts[count++] = &found->advice;
    for (unsigned i = 0; i < 2; i++) {
        texts[count++] = &sides[i]->kernel;
        texts[count++] = &sides[i]->call;
        texts[count++] = &sides[i]->function;
        texts[count++] = &sides[i]->file;
        texts[count++] = &sides[i]->text;
        texts[count++] = &sides[i]->stack;
    }
    texts[count++] = &found->memory.name;
    texts[count++] = &found->memory.allocated;
    texts[count++] = &found->memory.allocated_by;
    texts[count++] = &found->memory.freed;
    texts[count++] = &found->memory.freed_by;
    return count;
}

static bool
same_side(const struct ha_check_side *a, const struct ha_check_side *b)
{
    return a->bits == b->bits && a->line == b->line && a->column == b->column &&
           strcmp(a->kernel, b->kernel) == 0 && strcmp(a->call, b->call) == 0 &&
           strcmp(a->file, b->file) == 0 &&
           /* The host's code has no line but by its stack. */
           (a->call[0] == '\0' || strcmp(a->stack, b->stack) == 0);
}

static bool
is_same(const struct ha_check_finding *a, const struct ha_check_finding *b)
{
    return a->what == b->what && a->device == b->device &&
           ((same_side(&a->here, &b->here) && same_side(&a->other, &b->other)) ||
            (same_side(&a->here, &b->other) && same_side(&a->other, &b->here)));
}

/* A copy that owns its texts, behind it in the same memory; NULL: no memory. */
static struct ha_check_finding *
copy_of(struct ha_check_finding found)
{
    const char **texts[TEXTS_MAX];
    uint32_t count = texts_of(&found, texts);
    size_t bytes = sizeof found;
    for (uint32_t i = 0; i < count; i++) {
        bytes += strlen(*texts[i]) + 1;
    }
    struct ha_check_finding *copy = malloc(bytes);
    if (copy == NULL) {
        return NULL;
    }
    char *to = (char *)(copy + 1);
    for (uint32_t i = 0; i < count; i++) {
        size_t size = strlen(*texts[i]) + 1;
        memcpy(to, *texts[i], size);
        *texts[i] = to;
        to += size;
    }
    *copy = found;
    return copy;
}

/* What the finder has left out; borrowed until the lock is released. */
static void
complete(struct ha_check_finding *found)
{
    const struct ha_check_kind *kind = ha_check_kind(found->what);
    struct ha_check_side *sides[2] = {&found->here, &found->other};

    if (found->message[0] == '\0') {
        found->message = kind->text;
    }
    if (found->advice[0] == '\0') {
        found->advice = kind->advice;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (sides[i]->text[0] == '\0') {
            ha_source_line_read(sides[i]->file, sides[i]->line, &lines[i]);
            sides[i]->text = lines[i].text;
        }
    }
}

/* One that differs from all others: shown first, then kept. */
static void
keep(struct ha_check_finding *found)
{
    if (finding_count == HA_FINDINGS_MAX) {
        dropped++;
        return;
    }
    found->number = ++numbered;
    complete(found);
    ha_output_finding(found);
    struct ha_check_finding *copy = copy_of(*found);
    if (copy != NULL) {
        findings[finding_count++] = copy;
    } else {
        dropped++;
    }
}

void
ha_finding_add(const struct ha_check_finding *given)
{
    struct ha_check_finding found = *given;
    const char **texts[TEXTS_MAX];
    uint32_t count = texts_of(&found, texts);

    for (uint32_t i = 0; i < count; i++) {
        *texts[i] = *texts[i] == NULL ? "" : *texts[i];
    }
    found.size = sizeof found;
    found.count = 1;
    found.here.kernel = ha_kernel_name(found.here.kernel);
    found.other.kernel = ha_kernel_name(found.other.kernel);
    pthread_mutex_lock(&finding_lock);
    counted++;
    for (uint32_t i = 0; i < finding_count; i++) {
        if (is_same(findings[i], &found)) {
            findings[i]->count++;
            pthread_mutex_unlock(&finding_lock);
            return;
        }
    }
    keep(&found);
    pthread_mutex_unlock(&finding_lock);
}

int
ha_finding_each(ha_check_each each, void *context)
{
    int answer = 0;

    for (uint32_t i = 0; answer == 0; i++) {
        pthread_mutex_lock(&finding_lock);
        struct ha_check_finding *copy =
            i < finding_count ? copy_of(*findings[i]) : NULL;
        pthread_mutex_unlock(&finding_lock);
        if (copy == NULL) {
            break;
        }
        answer = each(copy, context);
        free(copy);
    }
    return answer;
}

/* Lock held. */
static void
fill_counts(struct ha_check_summary *summary)
{
    summary->findings = finding_count;
    summary->counted = counted;
    summary->dropped = dropped;
}

void
ha_finding_count(struct ha_check_summary *summary)
{
    pthread_mutex_lock(&finding_lock);
    fill_counts(summary);
    pthread_mutex_unlock(&finding_lock);
}

void
ha_finding_clear(void)
{
    pthread_mutex_lock(&finding_lock);
    for (uint32_t i = 0; i < finding_count; i++) {
        ha_output_count(findings[i]);
        free(findings[i]);
    }
    finding_count = 0;
    counted = dropped = 0;
    pthread_mutex_unlock(&finding_lock);
}

void
ha_finding_begin(void)
{
    pthread_mutex_lock(&finding_lock);
    ha_output_start();
    pthread_mutex_unlock(&finding_lock);
}

/* The lock, unless somebody keeps it: the thread that a signal interrupts, perhaps. */
static bool
lock_soon(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (pthread_mutex_trylock(&finding_lock) == 0) {
            return true;
        }
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

void
ha_finding_end(struct ha_check_summary *summary)
{
    if (!lock_soon()) {
        return;
    }
    fill_counts(summary);
    for (uint32_t i = 0; i < finding_count; i++) {
        ha_output_count(findings[i]);
    }
    ha_output_summary(summary);
    pthread_mutex_unlock(&finding_lock);
}

void
ha_finding_after_fork_child(void)
{
    (void)pthread_mutex_init(&finding_lock, NULL); /* its holder isn't here */
    finding_count = 0; /* their memory stays: somebody may have been adding one */
    counted = dropped = numbered = 0;
    ha_output_after_fork_child();
}
