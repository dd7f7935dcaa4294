/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/check/python_stack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "core/unnamed_file.h"

enum { DUMP_BYTES = 16384, DUMP_LIMIT_S = 1 };

static pthread_mutex_t dump_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */
static int dump_file = -1;
static pid_t dump_process; /* that has made the file */

/* What faulthandler prints a thread with: it needs no GIL if the thread stands still,
 * as this one does, which is in a call. */
typedef void (*dump_function)(int file, void *thread);

/* Of the Python in this process; NULL if there is none, or if it keeps its dumper to
 * itself. */
static dump_function
dumper(void)
{
    dump_function function = NULL;

    *(void **)&function = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
    return function;
}

/* The calling thread's in Python, or NULL. */
static void *
python_thread(void)
{
    int (*is_there)(void) = NULL;
    void *(*own)(void) = NULL;

    *(void **)&is_there = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    *(void **)&own = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    return is_there != NULL && own != NULL && is_there() != 0 ? own() : NULL;
}

/* Lines of `  File "program.py", line 12 in main` as ours. */
static size_t
rewrite(char *dump, char *text, size_t bytes)
{
    size_t used = 0;
    char *rest = NULL;

    for (char *line = strtok_r(dump, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *file = strstr(line, "File \"");
        char *number = file != NULL ? strstr(file, "\", line ") : NULL;
        char *name = number != NULL ? strstr(number, " in ") : NULL;
        if (name == NULL) {
            continue;
        }
        file += strlen("File \"");
        *number = '\0';
        *name = '\0';
        int written = snprintf(text + used, bytes - used, "%.300s:%s in %.150s\n", file,
                               number + strlen("\", line "), name + strlen(" in "));
        if (written <= 0 || (size_t)written >= bytes - used) {
            break;
        }
        used += (size_t)written;
    }
    return used;
}

/* The folder of the Python package that this library is in the _lib of, with a slash
 * behind it; empty without one.  Found once. */
static char package[1024];
static pthread_once_t package_once = PTHREAD_ONCE_INIT;

static void
find_package(void)
{
    Dl_info info;
    const char *end = NULL;

    if (dladdr(package, &info) != 0 && info.dli_fname != NULL) {
        end = strstr(info.dli_fname, "/_lib/");
    }
    int length = end != NULL ? (int)(end + 1 - info.dli_fname) : 0;
    (void)snprintf(package, sizeof package, "%.*s", length,
                   length > 0 ? info.dli_fname : "");
}

size_t
ha_python_stack_of_program(char *text, size_t bytes)
{
    size_t kept = 0;

    (void)pthread_once(&package_once, find_package);
    size_t own = strlen(package);
    for (size_t at = 0, next; at < bytes; at = next) {
        const char *end = memchr(text + at, '\n', bytes - at);
        next = end != NULL ? (size_t)(end + 1 - text) : bytes;
        if (own > 0 && next - at > own && memcmp(text + at, package, own) == 0) {
            continue;
        }
        memmove(text + kept, text + at, next - at);
        kept += next - at;
    }
    return kept;
}

/* Lock held; -1 without one. */
static int
open_dump(void)
{
    if (dump_file < 0 || dump_process != getpid()) {
        /* The parent's file has the parent's offset. */
        dump_file = ha_unnamed_file("hipadapt stack", NULL);
        dump_process = getpid();
    }
    return dump_file;
}

size_t
ha_python_stack(char *text, size_t bytes)
{
    char dump[DUMP_BYTES];
    dump_function function = dumper();
    void *thread = function != NULL ? python_thread() : NULL;
    struct timespec until;
    ssize_t count = 0;

    /* A child may be forked with the lock held. */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DUMP_LIMIT_S;
    if (thread == NULL || pthread_mutex_timedlock(&dump_lock, &until) != 0) {
        return 0;
    }
    int file = open_dump();
    if (file >= 0 && ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0) {
        function(file, thread);
        count = pread(file, dump, sizeof dump - 1, 0);
    }
    pthread_mutex_unlock(&dump_lock);
    if (count <= 0) {
        return 0;
    }
    dump[count] = '\0';
    return rewrite(dump, text, bytes);
}
