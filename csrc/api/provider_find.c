/* SPDX-License-Identifier: MIT */
#include "api/provider_find.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/provider.h"
#include "core/dl.h"
#include "core/env.h"

#define CPU_DEVICE "libhipadapt_cpu.so"
#define PROBE_LIMIT_MS 20000
#define PROBE_STEP_MS 5
#define LOAD_FLAGS (RTLD_NOW | RTLD_LOCAL)

extern char **environ;

#define HIP_NAME_COUNT 4
static const char *const hip_names[HIP_NAME_COUNT] = {
    "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
static const char *const rtc_names[] = {"libhiprtc.so.7", "libhiprtc.so.6",
                                        "libhiprtc.so.5", "libhiprtc.so", NULL};

/* Loads in a child of its own: a broken driver ends the child, not the program. */
static const char probe_program[] =
    "import ctypes,sys\n"
    "n=ctypes.c_int()\n"
    "r=ctypes.CDLL(sys.argv[1]).hipGetDeviceCount(ctypes.byref(n))\n"
    "sys.exit(0 if r==0 and n.value>0 else 3)\n";

/* Its address says which file this code is in. */
static const char here;

static void
note_tried(struct ha_provider_search *search, const char *what, const char *why)
{
    struct ha_dl_tried *tried = &search->tried;
    size_t room = sizeof tried->text - tried->used;
    int written = snprintf(tried->text + tried->used, room, "%s%s (%s)",
                           tried->used > 0 ? "; " : "", what, why);

    if (written > 0) {
        tried->used += (size_t)written < room ? (size_t)written : room - 1;
    }
}

static void
copy_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
}

/* The file that holds the address, for messages and for finding siblings. */
static void
path_of(void *library, const char *symbol, const char *fallback, char *path,
        size_t size)
{
    Dl_info info;
    void *address = dlsym(library, symbol);

    if (address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL) {
        fallback = info.dli_fname;
    }
    copy_text(path, size, fallback);
}

static int
find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *name = info->dlpi_name;
    const char *base = name != NULL ? strrchr(name, '/') : NULL;

    (void)size;
    if (base != NULL && strncmp(base + 1, "libamdhip64", 11) == 0) {
        copy_text(context, 1024, name);
        return 1;
    }
    return 0;
}

/* Copies of libamdhip64 go under many names (wheels add a hash), so the process's own
 * list is read instead of asking for each soname. */
static void *
open_loaded(struct ha_provider_search *search)
{
    char path[1024] = "";

    if (dl_iterate_phdr(find_loaded, path) == 0) {
        return NULL;
    }
    void *library = dlopen(path, LOAD_FLAGS | RTLD_NOLOAD);
    if (library != NULL && dlsym(library, "hipadaptLacks") != NULL) {
        search->found.kind = HA_PROVIDER_CPU;
        copy_text(search->found.why, sizeof search->found.why,
                  "this process has loaded the CPU device in place of libamdhip64");
    } else if (library != NULL) {
        copy_text(search->found.why, sizeof search->found.why,
                  "libamdhip64 was already loaded by this process");
    }
    return library;
}

/* Place number `at` to look for libamdhip64 in: ROCm's folder if the environment names
 * one, then the dynamic linker's places, then the usual folder.  False at the end of
 * the list; an empty path where that place is not there. */
static bool
place(int at, char *path, size_t size)
{
    const char *roots[] = {ha_env(HA_ENV_ROCM_PATH), ha_env(HA_ENV_ROCM_HOME), NULL,
                           "/opt/rocm"};
    int root = at / HIP_NAME_COUNT;
    const char *name = hip_names[at % HIP_NAME_COUNT];

    path[0] = '\0';
    if (root >= 4) {
        return false;
    }
    if (root == 2) {
        copy_text(path, size, name);
    } else if (roots[root] != NULL) {
        snprintf(path, size, "%s/lib/%s", roots[root], name);
        if (access(path, R_OK) != 0) {
            path[0] = '\0';
        }
    }
    return true;
}

static void *
open_installed(struct ha_provider_search *search)
{
    char path[1024];

    for (int at = 0; place(at, path, sizeof path); at++) {
        void *library =
            path[0] != '\0' ? ha_dl_open(path, LOAD_FLAGS, &search->tried) : NULL;
        if (library != NULL) {
            return library;
        }
    }
    note_tried(search, "/opt/rocm/lib", "no libamdhip64 there");
    return NULL;
}

/* Whether an installed libamdhip64 reports a device, asked of a child process. */
static bool
probe(const struct ha_provider_search *search, const char *path)
{
    char *const argv[] = {(char *)search->interpreter, "-I",         "-S", "-c",
                          (char *)probe_program,       (char *)path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    int status = -1;
    bool spawned = false;

    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    if (posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0) {
        spawned = posix_spawn(&child, argv[0], &actions, NULL, argv, environ) == 0;
    }
    posix_spawn_file_actions_destroy(&actions);
    if (!spawned) {
        return false;
    }
    for (int waited = 0;; waited += PROBE_STEP_MS) {
        pid_t ended = waitpid(child, &status, waited < PROBE_LIMIT_MS ? WNOHANG : 0);
        if (ended == child) {
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (ended < 0 && errno != EINTR) {
            return false; /* the program reaps all children itself */
        }
        if (waited + PROBE_STEP_MS >= PROBE_LIMIT_MS) {
            (void)kill(child, SIGKILL);
        }
        (void)poll(NULL, 0, PROBE_STEP_MS);
    }
}

static void *
open_with_device(struct ha_provider_search *search)
{
    char path[1024];

    /* Without a driver there is no device, and loading the library would cost time and
     * tens of megabytes for nothing. */
    if (access("/dev/kfd", F_OK) != 0 && access("/dev/dxg", F_OK) != 0) {
        note_tried(search, "libamdhip64",
                   "no AMD driver: neither /dev/kfd nor /dev/dxg");
        return NULL;
    }
    if (search->interpreter[0] == '\0') {
        note_tried(search, "libamdhip64", "no interpreter to probe it with");
        return NULL;
    }
    bool found = false;
    for (int at = 0; !found && place(at, path, sizeof path); at++) {
        found = path[0] != '\0' && probe(search, path);
    }
    if (!found) {
        note_tried(search, "libamdhip64", "none reports a device");
        return NULL;
    }
    void *library = ha_dl_open(path, LOAD_FLAGS, &search->tried);
    if (library != NULL) {
        copy_text(search->found.why, sizeof search->found.why,
                  "libamdhip64 is installed and reports a device");
    }
    return library;
}

/* A file with the name of the CPU device that is not the one of this package. */
struct other_device {
    struct stat own;
    char path[1024]; /* "" until one is found */
};

static int
note_other_device(struct dl_phdr_info *loaded, size_t size, void *context)
{
    struct other_device *other = context;
    struct stat status;
    const char *slash = strrchr(loaded->dlpi_name, '/');

    (void)size;
    if (slash == NULL || strcmp(slash + 1, CPU_DEVICE) != 0 ||
        stat(loaded->dlpi_name, &status) != 0 ||
        (status.st_dev == other->own.st_dev && status.st_ino == other->own.st_ino)) {
        return 0;
    }
    copy_text(other->path, sizeof other->path, loaded->dlpi_name);
    return 1;
}

/* Two devices in one process would not know each other's memory and streams. */
static bool
has_other_device(struct ha_provider_search *search, const char *path)
{
    struct other_device other = {.path = ""};

    if (stat(path, &other.own) != 0 ||
        dl_iterate_phdr(note_other_device, &other) == 0) {
        return false;
    }
    note_tried(search, other.path,
               "the CPU device of another hipadapt, which this process has loaded "
               "already: use the Python package beside it");
    return true;
}

static void *
open_cpu(struct ha_provider_search *search)
{
    Dl_info info;
    char path[1024] = "";

    if (dladdr(&here, &info) != 0 && info.dli_fname != NULL) {
        const char *end = strrchr(info.dli_fname, '/');
        int folder = end != NULL ? (int)(end - info.dli_fname) : 0;
        snprintf(path, sizeof path, "%.*s/_lib/" CPU_DEVICE, folder, info.dli_fname);
    }
    if (has_other_device(search, path)) {
        return NULL;
    }
    return ha_dl_open(path, LOAD_FLAGS, &search->tried);
}

/* hiprtc is a library beside libamdhip64, or part of it, or anywhere. */
static void *
open_rtc(struct ha_provider_search *search)
{
    struct ha_provider *found = &search->found;
    const char *end = strrchr(found->path, '/');
    char path[2048];

    if (dlsym(found->hip, "hiprtcVersion") != NULL) {
        return found->hip;
    }
    for (size_t n = 0; end != NULL && rtc_names[n] != NULL; n++) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(end - found->path), found->path,
                 rtc_names[n]);
        void *library = dlopen(path, LOAD_FLAGS);
        if (library != NULL) {
            return library;
        }
    }
    for (size_t n = 0; rtc_names[n] != NULL; n++) {
        void *library = ha_dl_open(rtc_names[n], LOAD_FLAGS, &search->tried);
        if (library != NULL) {
            return library;
        }
    }
    return NULL;
}

static void *
open_chosen(struct ha_provider_search *search)
{
    struct ha_provider *found = &search->found;
    const char *wish = ha_env(HA_ENV_PROVIDER);
    void *library = NULL;

    if (strcmp(wish, "cpu") == 0) {
        found->kind = HA_PROVIDER_CPU;
        copy_text(found->why, sizeof found->why, "HIPADAPT_PROVIDER=cpu");
        return open_cpu(search);
    }
    if (strcmp(wish, "amd") == 0) {
        found->kind = HA_PROVIDER_AMD;
        library = open_loaded(search);
        if (library == NULL) {
            copy_text(found->why, sizeof found->why, "HIPADAPT_PROVIDER=amd");
            library = open_installed(search);
        }
        return library;
    }
    if (strcmp(wish, "auto") != 0) {
        found->kind = HA_PROVIDER_PATH;
        copy_text(found->why, sizeof found->why,
                  "HIPADAPT_PROVIDER names this library");
        return ha_dl_open(wish, LOAD_FLAGS, &search->tried);
    }
    found->kind = HA_PROVIDER_AMD;
    library = open_loaded(search);
    if (library == NULL) {
        library = open_with_device(search);
    }
    if (library == NULL) {
        found->kind = HA_PROVIDER_CPU;
        copy_text(found->why, sizeof found->why,
                  "no AMD device was found, so the CPU device runs the kernels");
        library = open_cpu(search);
    }
    return library;
}

bool
ha_provider_find(struct ha_provider_search *search)
{
    struct ha_provider *found = &search->found;

    found->hip = open_chosen(search);
    if (found->hip == NULL) {
        return false;
    }
    path_of(found->hip, "hipInit", ha_env(HA_ENV_PROVIDER), found->path,
            sizeof found->path);
    copy_text(found->tried, sizeof found->tried, search->tried.text);
    found->rtc = open_rtc(search);
    return true;
}
