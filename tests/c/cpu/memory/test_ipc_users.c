/* SPDX-License-Identifier: MIT */
/* Memory and events of processes of two users: handles open nothing, in any direction.
 * Needs root, to become others. */
#include <grp.h>
#include <sys/prctl.h>

#include "peer_support.h"

#define ME 54320
#define OTHER 54321
#define BYTES 5000

/* As a process that a user started: also such as may be looked at by that user. */
static void
become(uid_t user)
{
    if (geteuid() != user) {
        CHECK(setgroups(0, NULL) == 0 && setgid(user) == 0 && setuid(user) == 0);
    }
    CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
}

struct handles {
    hipIpcMemHandle_t memory;
    hipIpcEventHandle_t event;
};

static void
make(struct handles *handles, unsigned char **memory)
{
    hipEvent_t event;
    OK(hipMalloc((void **)memory, BYTES));
    OK(hipMemset(*memory, 0x5a, BYTES));
    OK(hipIpcGetMemHandle(&handles->memory, *memory));
    OK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    OK(hipEventRecord(event, NULL));
    OK(hipIpcGetEventHandle(&handles->event, event));
}

static void
check_refused(const struct handles *handles)
{
    void *memory = NULL;
    hipEvent_t event = NULL;
    CHECK_HIP(hipIpcOpenMemHandle(&memory, handles->memory, 0),
              hipErrorInvalidDevicePointer);
    CHECK(strstr(hipadaptGetErrorText(), "belongs to another user") != NULL);
    CHECK_HIP(hipIpcOpenEventHandle(&event, handles->event), hipErrorInvalidValue);
    CHECK(memory == NULL && event == NULL);
}

/* Opens what it is told of, and tells of its own. */
static void
peer(uid_t user, bool same)
{
    struct handles theirs, own;
    unsigned char *memory, host[BYTES];
    become(user);
    hear(&theirs, sizeof theirs);
    if (same) {
        OK(hipIpcOpenMemHandle((void **)&memory, theirs.memory, 0));
        OK(hipMemcpy(host, memory, BYTES, hipMemcpyDeviceToHost));
        CHECK(host[0] == 0x5a && host[BYTES - 1] == 0x5a);
        OK(hipIpcCloseMemHandle(memory));
    } else {
        check_refused(&theirs);
    }
    make(&own, &memory);
    say(&own, sizeof own);
    step('a');
}

static void
exchange(const char *with, bool same)
{
    struct handles own, theirs;
    unsigned char *memory, host[BYTES];
    make(&own, &memory);
    pid_t child = start_peer(with);
    say(&own, sizeof own);
    hear(&theirs, sizeof theirs);
    if (!same) {
        check_refused(&theirs);
    }
    OK(hipMemcpy(host, memory, BYTES, hipMemcpyDeviceToHost));
    CHECK(host[0] == 0x5a && host[BYTES - 1] == 0x5a);
    step('a');
    end_peer(child);
    OK(hipFree(memory));
}

/* The rest, as one of the users. */
static void
run_as_user(void)
{
    become(ME);
    exchange("same", true);
}

static void
test_root_and_a_user_open_nothing_of_each_other(void)
{
    exchange("other", false);
}

static void
test_processes_of_one_user_open_each_others(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execl("/proc/self/exe", "test", "user", NULL);
        _exit(99);
    }
    end_peer(child);
}

/* Two users, neither of whom is root: the handles go by way of this process. */
static void
test_two_users_open_nothing_of_each_other(void)
{
    struct handles handles;
    pid_t owner = start_peer("owner");
    int to_owner = dup(line);
    hear(&handles, sizeof handles);
    pid_t child = start_peer("other");
    say(&handles, sizeof handles);
    hear(&handles, sizeof handles);
    step('a');
    end_peer(child);
    line = dup2(to_owner, line);
    step('a');
    end_peer(owner);
    close(to_owner);
}

static void
owner(void)
{
    struct handles own;
    unsigned char *memory;
    become(ME);
    make(&own, &memory);
    say(&own, sizeof own);
    step('a');
}

int
main(int argc, char **argv)
{
    if (argc == 1 && geteuid() != 0) {
        puts("only root can become another user");
        return 77;
    }
    if (argc == 2) {
        run_as_user();
        return 0;
    }
    if (argc == 3) {
        line = 0;
        if (strcmp(argv[2], "owner") == 0) {
            owner();
        } else {
            peer(strcmp(argv[2], "same") == 0 ? ME : OTHER,
                 strcmp(argv[2], "same") == 0);
        }
        return 0;
    }
    RUN(test_root_and_a_user_open_nothing_of_each_other);
    RUN(test_processes_of_one_user_open_each_others);
    RUN(test_two_users_open_nothing_of_each_other);
    return 0;
}
