/* SPDX-License-Identifier: MIT */
#include "tool/profiler/writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/profiler/chrome.h"
#include "tool/profiler/perfetto.h"

enum { SCHEMES_MAX = 16, SCHEME_BYTES = 32 };
#define FILE_SCHEME "file://"

struct ha_writer {
    const struct ha_writer_class *class;
    void *state;
};

struct scheme {
    char name[SCHEME_BYTES];
    const struct ha_writer_class *class;
    void *context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct scheme schemes[SCHEMES_MAX];
static size_t scheme_count;

/* ---- schemes ---- */

/* The scheme of a URL; its length is 0 for a path. */
static size_t
scheme_length(const char *url)
{
    size_t length = strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789+.-");

    return strncmp(url + length, "://", 3) == 0 ? length : 0;
}

static bool
find_scheme(const char *name, size_t length, struct scheme *found)
{
    bool there = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < scheme_count && !there; i++) {
        there = strlen(schemes[i].name) == length &&
                memcmp(schemes[i].name, name, length) == 0;
        if (there) {
            *found = schemes[i];
        }
    }
    pthread_mutex_unlock(&lock);
    return there;
}

enum ha_status
ha_writer_register(const char *scheme, const struct ha_writer_class *class,
                   void *context)
{
    struct scheme found;
    size_t length = strlen(scheme);
    enum ha_status status = HA_OK;

    if (length == 0 || length >= SCHEME_BYTES ||
        strspn(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") != length) {
        return ha_error_set(HA_ERROR_INVALID, "'%.64s' is not the scheme of a URL",
                            scheme);
    }
    if (strcmp(scheme, "file") == 0 || find_scheme(scheme, length, &found)) {
        return ha_error_set(HA_ERROR_INVALID, "URLs of '%s' have a writer already",
                            scheme);
    }
    pthread_mutex_lock(&lock);
    if (scheme_count < SCHEMES_MAX) {
        struct scheme *place = &schemes[scheme_count++];
        memcpy(place->name, scheme, length + 1);
        place->class = class;
        place->context = context;
    } else {
        status = ha_error_set(HA_ERROR_MEMORY, "%d schemes have writers already",
                              (int)SCHEMES_MAX);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* "file://, a://, b://" */
static void
list_schemes(char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "a path, " FILE_SCHEME);

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < scheme_count && used < bytes; i++) {
        used += (size_t)snprintf(text + used, bytes - used, ", %s://", schemes[i].name);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- files ---- */

static bool
ends(const char *path, const char *with)
{
    size_t bytes = strlen(path), more = strlen(with);

    return bytes > more && strcmp(path + bytes - more, with) == 0;
}

static enum ha_status
open_file(const char *path, const struct ha_writer_info *info, struct ha_writer *writer)
{
    if (ends(path, ".json") || ends(path, ".json.gz")) {
        writer->class = &ha_chrome_class;
        return ha_chrome_open(path, ends(path, ".gz"), info, &writer->state);
    }
    if (ends(path, ".pftrace")) {
        writer->class = &ha_perfetto_class;
        return ha_perfetto_open(path, info, &writer->state);
    }
    return ha_error_set(HA_ERROR_UNSUPPORTED,
                        "'%s': the suffix of a trace is one of .json, .json.gz, "
                        ".pftrace",
                        path);
}

const char *
ha_writer_path(const char *url)
{
    if (strncmp(url, FILE_SCHEME, strlen(FILE_SCHEME)) == 0) {
        return url + strlen(FILE_SCHEME);
    }
    return scheme_length(url) == 0 ? url : NULL;
}

static enum ha_status
open_url(const char *url, const struct ha_writer_info *info, struct ha_writer *writer)
{
    const char *path = ha_writer_path(url);
    struct scheme found;
    char known[512];

    if (path != NULL) {
        return open_file(path, info, writer);
    }
    if (!find_scheme(url, scheme_length(url), &found)) {
        list_schemes(known, sizeof known);
        return ha_error_set(HA_ERROR_UNSUPPORTED,
                            "'%.256s': no writer for this scheme; there are: %s", url,
                            known);
    }
    writer->class = found.class;
    return found.class->open(found.context, url, info, &writer->state);
}

/* ---- one writer ---- */

enum ha_status
ha_writer_open(const char *url, const struct ha_writer_info *info,
               struct ha_writer **made)
{
    struct ha_writer *writer = calloc(1, sizeof *writer);

    if (writer == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory for a writer");
    }
    enum ha_status status = open_url(url, info, writer);
    if (status != HA_OK) {
        free(writer);
        return status;
    }
    *made = writer;
    return HA_OK;
}

enum ha_status
ha_writer_row(struct ha_writer *writer, const struct ha_trace_row *row)
{
    return writer->class->row != NULL ? writer->class->row(writer->state, row) : HA_OK;
}

enum ha_status
ha_writer_slice(struct ha_writer *writer, const struct ha_slice *slice)
{
    return writer->class->slice(writer->state, slice);
}

enum ha_status
ha_writer_finish(struct ha_writer *writer, const struct ha_writer_result *result)
{
    enum ha_status status = writer->class->finish(writer->state, result);

    free(writer);
    return status;
}

void
ha_writer_abandon(struct ha_writer *writer)
{
    if (writer != NULL) {
        writer->class->abandon(writer->state);
        free(writer);
    }
}

uint64_t
ha_writer_bytes(const struct ha_writer *writer)
{
    return writer->class->bytes != NULL ? writer->class->bytes(writer->state) : 0;
}
