/* SPDX-License-Identifier: MIT */
#include "cpu/module/explain.h"

#include <string.h>

#include "core/log.h"
#include "cpu/module/module.h"

/* One remark: "place TAB kind TAB text". */
static void
tell(const char *name, const char *line, size_t size)
{
    const char *end = line + size;
    const char *kind = memchr(line, '\t', size);
    const char *text =
        kind != NULL ? memchr(kind + 1, '\t', (size_t)(end - kind - 1)) : NULL;

    if (text == NULL) {
        return;
    }
    int place = (int)(kind - line), word = (int)(text - kind - 1);
    if (strncmp(kind + 1, "kernel", (size_t)word) == 0) {
        ha_log(0, "explain: kernel '%s'%s%.*s", name, place > 0 ? ", " : "", place,
               line);
        return;
    }
    ha_log(0, "explain:   %s%.*s%s%.*s: %.*s", place > 0 ? "line " : "", place, line,
           place > 0 ? ", " : "", word, kind + 1, (int)(end - text - 1), text + 1);
}

void
ha_function_explain(struct ha_function *function)
{
    const char *line = function->kernel->report;

    if (atomic_exchange_explicit(&function->explained, true, memory_order_relaxed)) {
        return;
    }
    while (*line != '\0') {
        size_t size = strcspn(line, "\n");
        tell(function->kernel->name, line, size);
        line += size + (line[size] == '\n');
    }
}
