/* SPDX-License-Identifier: MIT */
#include "cpu/module/explain.h"

#include <stdlib.h>
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
        ha_log(0, "explain: kernel '%s' (%.*s)%s%.*s", name, (int)(end - text - 1),
               text + 1, place > 0 ? ", " : "", place, line);
        return;
    }
    ha_log(0, "explain:   %s%.*s%s%.*s: %.*s", place > 0 ? "line " : "", place, line,
           place > 0 ? ", " : "", word, kind + 1, (int)(end - text - 1), text + 1);
}

/* ---- the report ---- */

struct report {
    char *text;
    size_t room, size;
};

static void
put(struct report *report, const char *text, size_t size)
{
    if (report->size < report->room) {
        size_t left = report->room - report->size;
        memcpy(report->text + report->size, text, size < left ? size : left);
    }
    report->size += size;
}

/* "name TAB kind TAB sentence" becomes "TAB kind TAB sentence".  Of gangs it says
 * nothing that the compiler made no vectors: they are some. */
static void
put_facts(struct report *report, const struct ha_image_kernel *kernel,
          const char *facts)
{
    size_t name = strlen(kernel->name);

    for (const char *line = facts; line != NULL && *line != '\0';) {
        size_t size = strcspn(line, "\n") + 1;
        bool own =
            size > name && memcmp(line, kernel->name, name) == 0 && line[name] == '\t';
        bool vector = own && strncmp(line + name, "\tvector\t", 8) == 0;
        if (own && (!vector || kernel->gang_width == 0)) {
            put(report, line + name, size - name);
        }
        line += size;
    }
}

size_t
ha_function_report(const struct ha_function *function, char *text, size_t room)
{
    const struct ha_image_kernel *kernel = function->kernel;
    struct report report = {text, room, 0};

    put(&report, kernel->report, strlen(kernel->report));
    put_facts(&report, kernel, ha_module_facts(function->module));
    put(&report, "", 1);
    return report.size;
}

void
ha_function_explain(struct ha_function *function)
{
    if (atomic_exchange_explicit(&function->explained, true, memory_order_relaxed)) {
        return;
    }
    size_t bytes = ha_function_report(function, NULL, 0);
    char *text = malloc(bytes);
    if (text == NULL) {
        ha_log(1, "no memory to explain kernel '%s'", function->kernel->name);
        return;
    }
    (void)ha_function_report(function, text, bytes);
    for (const char *line = text; *line != '\0';) {
        size_t size = strcspn(line, "\n");
        tell(function->kernel->name, line, size);
        line += size + (line[size] == '\n');
    }
    free(text);
}
