/* SPDX-License-Identifier: MIT */
#include "cpu/compile/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/unnamed_file.h"

/* Slices of a wait, so that an interrupt or a deadline is seen soon. */
#define SLICE_MS 50
/* Without a pidfd: how often the child is asked for. */
#define POLL_NS (500 * 1000L)
/* Descriptors of ours lie at or above this one, so that none that the child gets
 * overwrites the source of a later one. */
#define FD_FLOOR HA_PROCESS_FILES_MAX

enum ha_status
ha_memory_file_open(struct ha_memory_file *file, const char *name)
{
    char *path;
    int fd = ha_unnamed_file(name, &path);
    if (fd < 0) {
        return ha_error_set(HA_ERROR_SYSTEM,
                            "cannot make a file in memory, nor one in '%s': %s",
                            ha_temporary_folder(), strerror(errno));
    }
    if (fd < FD_FLOOR) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
        int error = errno;
        (void)close(fd);
        if (high < 0) {
            ha_unnamed_file_forget(path);
            return ha_error_set(HA_ERROR_SYSTEM, "fcntl(F_DUPFD_CLOEXEC): %s",
                                strerror(error));
        }
        fd = high;
    }
    *file = (struct ha_memory_file){.fd = fd, .path = path};
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
        ha_unnamed_file_forget(file->path);
    }
    file->fd = -1;
    file->path = NULL;
}

/* ---- the child ---- */

#define CHILD_STACK_BYTES ((size_t)64 << 10)
#define CHILD_FAILED 127
#define CHILD_LIMITS_MAX 4u
#define SIGNALS_MAX 64
#define SIGNAL_SET_BYTES ((size_t)8) /* the kernel's sigset_t */
#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
/* Where the kernel cannot close a range, numbers up to this one are tried. */
#define CLOSE_TRIED_MAX 4096

struct child_limit {
    int resource;
    struct {
        uint64_t soft, hard;
    } value; /* as the kernel has it */
};

/* What the child does before it becomes the program. */
struct child {
    const struct ha_process_request *request;
    const char *const *envp;
    pid_t parent;
    struct child_limit limits[CHILD_LIMITS_MAX];
    uint32_t limit_count;
    int sources[HA_PROCESS_FILES_MAX];
    volatile int error; /* of the child, 0 = it became the program */
};

static void
limit(struct child *child, int resource, uint64_t soft, uint64_t hard)
{
    /* A lower hard limit of ours stays: only a process with rights could raise it. */
    struct rlimit now;
    if (prlimit(0, (__rlimit_resource_t)resource, NULL, &now) != 0) {
        return;
    }
    hard = hard < now.rlim_max ? hard : now.rlim_max;
    soft = soft < hard ? soft : hard;
    struct child_limit *next = &child->limits[child->limit_count++];
    next->resource = resource;
    next->value.soft = soft;
    next->value.hard = hard;
}

static void
limit_all(struct child *child)
{
    const struct ha_process_request *request = child->request;
    limit(child, RLIMIT_CORE, 0, 0);
    if (request->address_space_bytes != 0) {
        limit(child, RLIMIT_AS, request->address_space_bytes,
              request->address_space_bytes);
    }
    if (request->file_bytes != 0) {
        limit(child, RLIMIT_FSIZE, request->file_bytes, request->file_bytes);
    }
    if (request->deadline_ns != UINT64_MAX) {
        uint64_t now = ha_clock_ns();
        uint64_t left = request->deadline_ns > now ? request->deadline_ns - now : 0;
        uint64_t seconds = left / 1000000000u + 2;
        limit(child, RLIMIT_CPU, seconds, seconds + 5);
    }
}

/* The child has the memory of this process until it becomes the program, and this
 * thread waits for that (as vfork and posix_spawn do).  So it calls the kernel and
 * nothing else: functions of the C library, and what sanitizers put in their place,
 * would change what they keep of this process. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static int
child_main(void *context)
{
    struct child *child = context;
    const struct ha_process_request *request = child->request;
    static const uint64_t none[4]; /* the default action, the empty set */
    /* It dies with the thread that waits for it; that thread may be dead by now. */
    (void)syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (syscall(SYS_getppid) != child->parent) {
        (void)syscall(SYS_exit_group, CHILD_FAILED);
    }
    for (int number = 1; number <= SIGNALS_MAX; number++) {
        (void)syscall(SYS_rt_sigaction, number, none, NULL, SIGNAL_SET_BYTES);
    }
    (void)syscall(SYS_setpgid, 0, 0);
    for (uint32_t i = 0; i < request->file_count; i++) {
        if (syscall(SYS_dup3, child->sources[i], (int)i, 0) < 0) {
            goto failed;
        }
    }
    if (syscall(SYS_close_range, request->file_count, ~0u, 0) != 0) {
        for (int fd = (int)request->file_count; fd < CLOSE_TRIED_MAX; fd++) {
            (void)syscall(SYS_close, fd);
        }
    }
    for (uint32_t i = 0; i < child->limit_count; i++) {
        (void)syscall(SYS_prlimit64, 0, child->limits[i].resource,
                      &child->limits[i].value, NULL);
    }
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, SIGNAL_SET_BYTES);
    (void)syscall(SYS_execve, request->argv[0], request->argv, child->envp);
failed:
    child->error = errno;
    (void)syscall(SYS_exit_group, CHILD_FAILED);
    return CHILD_FAILED;
}

static int
spawn(const struct ha_process_request *request, pid_t *pid)
{
    static const char *const plain[] = {"LANG=C", NULL};
    struct child child = {.request = request,
                          .envp = request->envp != NULL ? request->envp : plain,
                          .parent = getpid()};
    sigset_t all, before;
    for (uint32_t i = 0; i < request->file_count; i++) {
        child.sources[i] = request->files[i]->fd;
    }
    limit_all(&child);
    char *stack = mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        return errno;
    }
    /* No handler of this process may run in the child. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = 0;
    pid_t made = clone(child_main, stack + CHILD_STACK_BYTES,
                       CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    if (made < 0) {
        error = errno;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)munmap(stack, CHILD_STACK_BYTES);
    if (made >= 0 && child.error != 0) {
        error = child.error;
        while (waitpid(made, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *pid = made;
    return error;
}

/* ---- its end ---- */

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

/* Children of one call. */
struct family {
    const struct ha_process_request *requests;
    struct ha_process_result *results;
    uint32_t count;
    uint32_t started;
    uint32_t running;
    uint32_t at_once;
    pid_t pids[HA_PROCESSES_MAX]; /* 0 before the start and once its end was seen */
    int pidfds[HA_PROCESSES_MAX]; /* owned while there is a pid, -1 where there is none
                                   */
};

/* One slice of waiting, which ends early where pidfds say that a child has ended. */
static void
wait_slice(const struct family *family, uint64_t left_ns)
{
    struct pollfd entries[HA_PROCESSES_MAX];
    nfds_t count = 0;
    bool blind = false;
    for (uint32_t i = 0; i < family->started; i++) {
        if (family->pids[i] != 0) {
            blind |= family->pidfds[i] < 0;
            entries[count++] =
                (struct pollfd){.fd = family->pidfds[i], .events = POLLIN};
        }
    }
    if (!blind) {
        uint64_t left_ms = left_ns / 1000000u + 1;
        (void)poll(entries, count, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS);
    } else {
        struct timespec pause = {.tv_sec = 0, .tv_nsec = POLL_NS};
        (void)nanosleep(&pause, NULL);
    }
}

static void
forget(struct family *family, uint32_t i)
{
    if (family->pidfds[i] >= 0) {
        (void)close(family->pidfds[i]);
    }
    family->pids[i] = 0;
    family->running--;
}

static void
reap_ended(struct family *family)
{
    for (uint32_t i = 0; i < family->started; i++) {
        if (family->pids[i] != 0 &&
            reap(family->pids[i], WNOHANG, &family->results[i])) {
            forget(family, i);
        }
    }
}

static void
end_all(struct family *family, enum ha_process_end why)
{
    for (uint32_t i = 0; i < family->started; i++) {
        if (family->pids[i] != 0) {
            (void)kill(-family->pids[i], SIGKILL);
            (void)kill(family->pids[i], SIGKILL); /* in case that it left its group */
        }
    }
    for (uint32_t i = 0; i < family->started; i++) {
        if (family->pids[i] != 0) {
            (void)reap(family->pids[i], 0, &family->results[i]);
            family->results[i] = (struct ha_process_result){why, SIGKILL};
            forget(family, i);
        }
    }
    for (uint32_t i = family->started; i < family->count; i++) {
        family->results[i] = (struct ha_process_result){why, 0};
    }
}

/* Starts what may run; the number of an error, or 0. */
static int
start_more(struct family *family)
{
    while (family->started < family->count && family->running < family->at_once) {
        uint32_t i = family->started;
        pid_t pid = 0;
        int error = spawn(&family->requests[i], &pid);
        if (error != 0) {
            return error;
        }
        family->pids[i] = pid;
        family->pidfds[i] = -1;
#ifdef SYS_pidfd_open
        family->pidfds[i] = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
        family->started++;
        family->running++;
    }
    return 0;
}

/* Until all have ended; the number of an error, or 0. */
static int
run_family(struct family *family)
{
    const struct ha_process_request *first = &family->requests[0];
    uint64_t ask_ns = ha_clock_ns() + SLICE_MS * 1000000u;
    int error = start_more(family);
    while (error == 0 && family->running > 0) {
        uint64_t now = ha_clock_ns();
        if (now >= first->deadline_ns) {
            end_all(family, HA_PROCESS_TIMED_OUT);
            return 0;
        }
        if (first->interrupted != NULL && now >= ask_ns) {
            if (first->interrupted()) {
                end_all(family, HA_PROCESS_INTERRUPTED);
                return 0;
            }
            ask_ns = ha_clock_ns() + SLICE_MS * 1000000u;
        }
        wait_slice(family, first->deadline_ns - now);
        reap_ended(family);
        error = start_more(family);
    }
    if (error != 0) {
        end_all(family, HA_PROCESS_SIGNALED);
    }
    return error;
}

static enum ha_status
check_requests(const struct ha_process_request *requests, uint32_t count)
{
    if (count == 0 || count > HA_PROCESSES_MAX) {
        return ha_error_set(HA_ERROR_INVALID, "%u processes, 1 to %d are possible",
                            count, HA_PROCESSES_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (requests[i].file_count < 3 ||
            requests[i].file_count > HA_PROCESS_FILES_MAX) {
            return ha_error_set(HA_ERROR_INVALID,
                                "process: %u files, 3 to %d are possible",
                                requests[i].file_count, HA_PROCESS_FILES_MAX);
        }
    }
    return HA_OK;
}

enum ha_status
ha_process_run_all(const struct ha_process_request *requests,
                   struct ha_process_result *results, uint32_t count, uint32_t at_once)
{
    enum ha_status status = check_requests(requests, count);
    if (status != HA_OK) {
        return status;
    }
    struct family family = {.requests = requests,
                            .results = results,
                            .count = count,
                            .at_once = at_once > 0 ? at_once : 1};
    if (ha_clock_ns() >= requests[0].deadline_ns) {
        end_all(&family, HA_PROCESS_TIMED_OUT);
        return HA_OK;
    }
    /* Children end with this thread, and nobody would take their files. */
    int cancel;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    int error = run_family(&family);
    (void)pthread_setcancelstate(cancel, NULL);
    if (error != 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "cannot run '%s': %s",
                            requests[family.started].argv[0], strerror(error));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (results[i].end == HA_PROCESS_SIGNALED && results[i].code == SIGXCPU) {
            results[i].end = HA_PROCESS_TIMED_OUT;
        }
    }
    return HA_OK;
}

enum ha_status
ha_process_run(const struct ha_process_request *request,
               struct ha_process_result *result)
{
    return ha_process_run_all(request, result, 1, 1);
}
