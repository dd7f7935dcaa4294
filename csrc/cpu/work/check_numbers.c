/* SPDX-License-Identifier: MIT */
#include "cpu/work/check_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/finding.h"
#include "cpu/exec/numbers.h"
#include "cpu/memory/check_side.h"
#include "cpu/module/lines.h"

#define NAME_BYTES 1024

/* What the back end adds of its own has no lines. */
static bool
knows(const void *module, uintptr_t at)
{
    return ha_module_place(module, at).line != 0;
}

void
ha_check_numbers_begin(struct ha_launch *launch, const struct ha_function *function)
{
    if (launch->numbers != NULL || (launch->kernel->flags & HA_KERNEL_NUMBERS) == 0 ||
        (ha_check_kinds() & HA_CHECK_NAN) == 0) {
        return;
    }
    launch->numbers = calloc(1, sizeof *launch->numbers);
    if (launch->numbers != NULL) {
        launch->numbers->knows = knows;
        launch->numbers->context = function->module;
    }
}

/* Divides "file\nfunction\ntext" in `name`, which is a copy. */
static struct ha_check_site
site_of(const struct ha_line_place *place, char name[NAME_BYTES])
{
    char *parts[3] = {name, name, name};

    strncpy(name, place->name, NAME_BYTES - 1);
    name[NAME_BYTES - 1] = '\0';
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == HA_LINES_SLASH ? '/' : *at;
    }
    for (unsigned i = 1; i < 3; i++) {
        size_t size = strcspn(parts[i - 1], "\n");
        parts[i] = parts[i - 1] + size;
        if (*parts[i] != '\0') {
            *parts[i]++ = '\0';
        }
    }
    return (struct ha_check_site){.file = parts[0],
                                  .function = parts[1],
                                  .text = parts[2],
                                  .line = place->line,
                                  .column = place->column};
}

static void
tell(const struct ha_launch *launch, const struct ha_made *made)
{
    struct ha_check_site site;
    char name[NAME_BYTES];

    if (made->site != NULL) {
        site = *made->site;
    } else {
        struct ha_line_place place =
            ha_module_place(launch->numbers->context, made->at);
        site = site_of(&place, name);
    }
    struct ha_check_finding found = {
        .what = made->infinity ? HA_FOUND_INFINITY : HA_FOUND_NAN,
        .device = (int)launch->device,
        .here = ha_check_side_at(launch, &site, 0),
    };
    memcpy(found.here.block, made->block, sizeof found.here.block);
    memcpy(found.here.thread, made->thread, sizeof found.here.thread);
    for (uint64_t i = 0; i < made->count; i++) {
        ha_finding_add(&found);
    }
}

void
ha_check_numbers_end(struct ha_launch *launch)
{
    struct ha_numbers *numbers = launch->numbers;

    for (uint32_t i = 0; numbers != NULL && i < numbers->count; i++) {
        tell(launch, &numbers->made[i]);
    }
    launch->numbers = NULL;
    free(numbers);
}
