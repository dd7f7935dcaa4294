/* SPDX-License-Identifier: MIT */
#include "tool/profiler/stack_args.h"

#include <stdlib.h>
#include <string.h>

#include "tool/name.h"
#include "tool/text.h"

const char *
ha_stack_args_put(struct ha_stack_args *stack, const char *args, uint32_t name)
{
    const char *text = ha_name_text(name);
    size_t room = strlen(args) + HA_JSON_GROWTH * strlen(text) + 64;

    if (text[0] == '\0') {
        return args;
    }
    if (room > stack->room) {
        char *more = realloc(stack->members, room);
        if (more == NULL) {
            return args;
        }
        stack->members = more;
        stack->room = room;
    }
    char *to = stpcpy(stack->members, args);
    if (args[0] != '\0') {
        HA_PUT(to, ",");
    }
    HA_PUT(to, "\"stack\":[");
    for (const char *at = text; *at != '\0';) {
        size_t bytes = strcspn(at, "\n");
        to = ha_text_quoted(to, at, bytes);
        *to++ = ',';
        at += bytes + (at[bytes] == '\n');
    }
    to[-1] = ']';
    *to = '\0';
    return stack->members;
}

void
ha_stack_args_free(struct ha_stack_args *stack)
{
    free(stack->members);
}
