/* SPDX-License-Identifier: MIT */
#include "tool/profiler/base_config.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "core/file.h"
#include "core/log.h"

static char file[PATH_MAX]; /* does not change after `noted` */
static bool named;          /* by the environment: it has to be there */
static pthread_once_t noted = PTHREAD_ONCE_INIT;

static void
note(void)
{
    const char *path = ha_env(HA_ENV_KINETO_CONFIG); /* has a default */

    named = strcmp(path, ha_env_table[HA_ENV_KINETO_CONFIG].fallback) != 0;
    (void)snprintf(file, sizeof file, "%s", path);
}

void
ha_base_config_note(void)
{
    (void)pthread_once(&noted, note);
}

void
ha_base_config_read(struct ha_config *config)
{
    struct ha_config with_file;
    char *text = NULL;

    ha_base_config_note();
    ha_config_default(config);
    with_file = *config;
    enum ha_status status = ha_file_read_text(file, false, &text);
    if (status == HA_ERROR_NOT_FOUND && !named) {
        return;
    }
    if (status == HA_OK) {
        status = ha_config_parse(&with_file, text);
    }
    if (status == HA_OK) {
        *config = with_file;
    } else {
        ha_log(1, "the profiler's configuration file '%s' is left out: %s", file,
               ha_error_text());
    }
    free(text);
}
