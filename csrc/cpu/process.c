/* SPDX-License-Identifier: MIT */
#include "cpu/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"

/* Slices of a wait, so that an interrupt or a deadline is seen soon. */
#define SLICE_MS 50
/* Without a pidfd: how often the child is asked for. */
#define POLL_NS (500 * 1000L)
/* Descriptors of ours lie at or above this one, so that no dup2 of a spawn overwrites
 * the source of a later one. */
#define FD_FLOOR HA_PROCESS_FILES_MAX

enum ha_status
ha_memory_file_open(struct ha_memory_file *file, const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "memfd_create: %s", strerror(errno));
    }
    if (fd < FD_FLOOR) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
        int error = errno;
        (void)close(fd);
        if (high < 0) {
            return ha_error_set(HA_ERROR_SYSTEM, "fcntl(F_DUPFD_CLOEXEC): %s",
                                strerror(error));
        }
        fd = high;
    }
    *file = (struct ha_memory_file){fd, NULL, 0};
    return HA_OK;
}

enum ha_status
ha_memory_file_write(struct ha_memory_file *file, const void *bytes, size_t size)
{
    return ha_file_write_all(file->fd, bytes, size) == 0
               ? HA_OK
               : ha_error_set(HA_ERROR_SYSTEM, "write to a memory file: %s",
                              strerror(errno));
}

enum ha_status
ha_memory_file_rewind(struct ha_memory_file *file)
{
    if (lseek(file->fd, 0, SEEK_SET) != 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "lseek in a memory file: %s",
                            strerror(errno));
    }
    return HA_OK;
}

static void
unmap(struct ha_memory_file *file)
{
    if (file->bytes != NULL) {
        (void)munmap(file->bytes, file->size);
    }
    file->bytes = NULL;
    file->size = 0;
}

enum ha_status
ha_memory_file_map(struct ha_memory_file *file)
{
    unmap(file);
    struct stat status;
    if (fstat(file->fd, &status) != 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "fstat of a memory file: %s",
                            strerror(errno));
    }
    if (status.st_size == 0) {
        return HA_OK;
    }
    void *bytes =
        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (bytes == MAP_FAILED) {
        return ha_error_set(HA_ERROR_MEMORY, "mmap of %lld bytes: %s",
                            (long long)status.st_size, strerror(errno));
    }
    file->bytes = bytes;
    file->size = (size_t)status.st_size;
    return HA_OK;
}

void
ha_memory_file_close(struct ha_memory_file *file)
{
    unmap(file);
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    file->fd = -1;
}

/* glibc has posix_spawn_file_actions_addclosefrom_np since 2.34; it is looked up, so
 * that the library also loads on an older one, where descriptors that the program
 * itself left without close-on-exec reach the child. */
static int
add_close_from(posix_spawn_file_actions_t *actions, int from)
{
    int (*close_from)(posix_spawn_file_actions_t *, int);
    *(void **)&close_from =
        dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np");
    return close_from != NULL ? close_from(actions, from) : 0;
}

static int
prepare_files(posix_spawn_file_actions_t *actions,
              const struct ha_process_request *request)
{
    int error = 0;
    for (uint32_t i = 0; i < request->file_count && error == 0; i++) {
        error =
            posix_spawn_file_actions_adddup2(actions, request->files[i]->fd, (int)i);
    }
    return error != 0 ? error : add_close_from(actions, (int)request->file_count);
}

static int
prepare_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) {
        error = posix_spawnattr_setsigdefault(attributes, &all);
    }
    if (error == 0) {
        error = posix_spawnattr_setpgroup(attributes, 0);
    }
    if (error == 0) {
        error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETPGROUP);
    }
    return error;
}

static int
spawn(const struct ha_process_request *request, pid_t *pid)
{
    static const char *const plain[] = {"LANG=C", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        goto no_attributes;
    }
    error = prepare_files(&actions, request);
    if (error == 0) {
        error = prepare_attributes(&attributes);
    }
    if (error == 0) {
        error = posix_spawn(pid, request->argv[0], &actions, &attributes,
                            (char *const *)request->argv,
                            (char *const *)(request->envp ? request->envp : plain));
    }
    (void)posix_spawnattr_destroy(&attributes);
no_attributes:
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void
limit(pid_t pid, __rlimit_resource_t resource, uint64_t soft, uint64_t hard)
{
    /* A lower hard limit of ours stays: only a process with rights could raise it, and
     * a failure here leaves the child with the limits of this process. */
    struct rlimit now;
    if (prlimit(pid, resource, NULL, &now) != 0) {
        return;
    }
    struct rlimit wanted = {soft, hard};
    if (wanted.rlim_max > now.rlim_max) {
        wanted.rlim_max = now.rlim_max;
    }
    if (wanted.rlim_cur > wanted.rlim_max) {
        wanted.rlim_cur = wanted.rlim_max;
    }
    (void)prlimit(pid, resource, &wanted, NULL);
}

/* Set from outside, right after the exec: nothing but async-signal-safe code could run
 * before it in the child of a threaded process, and the first allocation of any size
 * comes much later than this. */
static void
limit_all(pid_t pid, const struct ha_process_request *request)
{
    limit(pid, RLIMIT_CORE, 0, 0);
    if (request->address_space_bytes != 0) {
        limit(pid, RLIMIT_AS, request->address_space_bytes,
              request->address_space_bytes);
    }
    if (request->file_bytes != 0) {
        limit(pid, RLIMIT_FSIZE, request->file_bytes, request->file_bytes);
    }
    if (request->deadline_ns != UINT64_MAX) {
        /* So that a child whose parent was killed ends too. */
        uint64_t now = ha_clock_ns();
        uint64_t left = request->deadline_ns > now ? request->deadline_ns - now : 0;
        uint64_t seconds = left / 1000000000u + 2;
        limit(pid, RLIMIT_CPU, seconds, seconds + 5);
    }
}

/* Takes the exit status if it is there: 1 = ended, 0 = still running. */
static int
reap(pid_t pid, int flags, struct ha_process_result *result)
{
    int status;
    pid_t got;
    do {
        got = waitpid(pid, &status, flags);
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
        return 0;
    }
    if (got < 0) {
        *result = (struct ha_process_result){HA_PROCESS_UNKNOWN, 0};
    } else if (WIFEXITED(status)) {
        *result = (struct ha_process_result){HA_PROCESS_EXITED, WEXITSTATUS(status)};
    } else {
        *result = (struct ha_process_result){HA_PROCESS_SIGNALED, WTERMSIG(status)};
    }
    return 1;
}

/* One slice of waiting; returns without a word whether the child ended. */
static void
wait_slice(int pidfd, uint64_t left_ns)
{
    if (pidfd >= 0) {
        struct pollfd entry = {.fd = pidfd, .events = POLLIN};
        uint64_t left_ms = left_ns / 1000000u + 1;
        (void)poll(&entry, 1, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS);
    } else {
        struct timespec pause = {.tv_sec = 0, .tv_nsec = POLL_NS};
        (void)nanosleep(&pause, NULL);
    }
}

static void
wait_for(pid_t pid, int pidfd, const struct ha_process_request *request,
         struct ha_process_result *result)
{
    uint64_t ask_ns = ha_clock_ns() + SLICE_MS * 1000000u;
    enum ha_process_end why;
    for (;;) {
        if (reap(pid, WNOHANG, result)) {
            return;
        }
        uint64_t now = ha_clock_ns();
        if (now >= request->deadline_ns) {
            why = HA_PROCESS_TIMED_OUT;
            break;
        }
        if (request->interrupted != NULL && now >= ask_ns) {
            if (request->interrupted()) {
                why = HA_PROCESS_INTERRUPTED;
                break;
            }
            ask_ns = ha_clock_ns() + SLICE_MS * 1000000u;
        }
        wait_slice(pidfd, request->deadline_ns - now);
    }
    (void)kill(-pid, SIGKILL);
    (void)kill(pid, SIGKILL); /* in case that it left its group */
    (void)reap(pid, 0, result);
    *result = (struct ha_process_result){why, SIGKILL};
}

enum ha_status
ha_process_run(const struct ha_process_request *request,
               struct ha_process_result *result)
{
    if (request->file_count < 3 || request->file_count > HA_PROCESS_FILES_MAX) {
        return ha_error_set(HA_ERROR_INVALID, "process: %u files, 3 to %d are possible",
                            request->file_count, HA_PROCESS_FILES_MAX);
    }
    pid_t pid;
    int error = spawn(request, &pid);
    if (error != 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "cannot run '%s': %s", request->argv[0],
                            strerror(error));
    }
    int pidfd = -1;
#ifdef SYS_pidfd_open
    pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
    limit_all(pid, request);
    wait_for(pid, pidfd, request, result);
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
    if (result->end == HA_PROCESS_SIGNALED && result->code == SIGXCPU) {
        result->end = HA_PROCESS_TIMED_OUT;
    }
    return HA_OK;
}
