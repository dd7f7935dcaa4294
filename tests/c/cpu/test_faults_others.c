/* SPDX-License-Identifier: MIT */
/* One kernel fails while others work: what they had done stays as it was, no byte of
 * theirs is touched, each of their kernels was done whole or not at all but for those
 * that the failure stopped, and other devices do not notice. */
#include "cpu_support.h"

enum {
    STREAMS = 5,
    LENGTH = 6000, /* ints that the kernels of a stream write */
    GUARD = 500,   /* ints on both sides that nobody writes */
    BEFORE = 8,    /* kernels of each stream that are done before the failure */
    AFTER = 12,    /* that are on their way when it comes */
    UNTOUCHED = 77,
};

/* A stream that adds 1 to its ints again and again; the host sees them. */
struct player {
    int device;
    hipStream_t stream;
    hipFunction_t add;
    int *memory; /* GUARD + LENGTH + GUARD */
    int *copy;   /* the same, which copies follow */
};

static struct player players[STREAMS];
static hipFunction_t failing; /* of device 0 */

static void
add_once(struct player *player)
{
    int *data = player->memory + GUARD;
    int value = 1;
    uint64_t count = LENGTH;
    void *arguments[] = {&data, &value, &count};
    hipError_t code = hipModuleLaunchKernel(player->add, (LENGTH + 63) / 64, 1, 1, 64,
                                            1, 1, 0, player->stream, arguments, NULL);
    if (code == hipSuccess) {
        code = hipMemcpyAsync(player->copy + GUARD, data, LENGTH * sizeof(int),
                              hipMemcpyDefault, player->stream);
    }
    /* After the failure the device refuses work. */
    CHECK(code == hipSuccess || (player->device == 0 && code != hipErrorInvalidValue));
}

static void
make_players(void)
{
    hipModule_t modules[2];
    const size_t bytes = (GUARD + LENGTH + GUARD) * sizeof(int);
    for (int device = 0; device < 2; device++) {
        OK(hipSetDevice(device));
        hipFunction_t function = image_function(&modules[device], "fail");
        failing = device == 0 ? function : failing;
    }
    for (int i = 0; i < STREAMS; i++) {
        struct player *player = &players[i];
        player->device = i == STREAMS - 1;
        OK(hipSetDevice(player->device));
        OK(hipStreamCreateWithFlags(&player->stream, hipStreamNonBlocking));
        OK(hipModuleGetFunction(&player->add, modules[player->device], "add"));
        OK(hipHostMalloc((void **)&player->memory, bytes, hipHostMallocPortable));
        OK(hipHostMalloc((void **)&player->copy, bytes, hipHostMallocPortable));
        for (int at = 0; at < GUARD + LENGTH + GUARD; at++) {
            bool inside = at >= GUARD && at < GUARD + LENGTH;
            player->memory[at] = player->copy[at] = inside ? 0 : UNTOUCHED;
        }
    }
}

/* All ints are `least` to `most`, at most two values that follow each other: what one
 * kernel or copy, stopped in the middle, leaves. */
static void
check_values(const int *memory, int least, int most)
{
    int low = most, high = least;
    for (int at = 0; at < GUARD; at++) {
        CHECK(memory[at] == UNTOUCHED);
        CHECK(memory[GUARD + LENGTH + at] == UNTOUCHED);
    }
    for (int at = GUARD; at < GUARD + LENGTH; at++) {
        low = memory[at] < low ? memory[at] : low;
        high = memory[at] > high ? memory[at] : high;
    }
    CHECK(low >= least && high <= most && high - low <= 1);
}

static void
fail_once(int kind)
{
    uint64_t address = 16;
    void *arguments[] = {&kind, &address};
    hipError_t code;
    make_players();
    for (int i = 0; i < STREAMS; i++) {
        OK(hipSetDevice(players[i].device));
        for (int turn = 0; turn < BEFORE; turn++) {
            add_once(&players[i]);
        }
        OK(hipStreamSynchronize(players[i].stream));
        check_values(players[i].memory, BEFORE, BEFORE);
        check_values(players[i].copy, BEFORE, BEFORE);
    }
    for (int turn = 0; turn < AFTER; turn++) {
        for (int i = 0; i < STREAMS; i++) {
            OK(hipSetDevice(players[i].device));
            add_once(&players[i]);
        }
        if (turn == AFTER / 2) {
            OK(hipSetDevice(0));
            OK(hipModuleLaunchKernel(failing, 3, 1, 1, 32, 1, 1, 0, NULL, arguments,
                                     NULL));
        }
    }
    OK(hipSetDevice(1));
    OK(hipDeviceSynchronize());
    OK(hipSetDevice(0));
    code = hipDeviceSynchronize();
    CHECK(code != hipSuccess && code != hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSynchronize(), code); /* until the device is reset */
    for (int i = 0; i < STREAMS; i++) {
        int least = players[i].device == 0 ? BEFORE : BEFORE + AFTER;
        check_values(players[i].memory, least, BEFORE + AFTER);
        check_values(players[i].copy, least, BEFORE + AFTER);
    }
    /* The other device goes on, also while this one is reset. */
    struct player *last = &players[STREAMS - 1];
    OK(hipSetDevice(1));
    add_once(last);
    OK(hipSetDevice(0));
    OK(hipDeviceReset());
    OK(hipSetDevice(1));
    OK(hipStreamSynchronize(last->stream));
    check_values(last->memory, BEFORE + AFTER + 1, BEFORE + AFTER + 1);
    OK(hipDeviceReset());
}

static void
test_others_are_right_while_a_kernel_stores_to_a_bad_address(void)
{
    fail_once(0);
}

static void
test_others_are_right_while_a_kernel_overflows_its_stack(void)
{
    fail_once(1);
}

static void
test_others_are_right_while_a_kernel_divides_by_zero(void)
{
    fail_once(2);
}

static void
test_others_are_right_while_a_kernel_traps(void)
{
    fail_once(3);
}

int
main(void)
{
    CHECK(setenv("HIPADAPT_CPU_DEVICES", "2", 1) == 0);
    CHECK(setenv("HIPADAPT_LOG", "0", 1) == 0);
    RUN(test_others_are_right_while_a_kernel_stores_to_a_bad_address);
    RUN(test_others_are_right_while_a_kernel_overflows_its_stack);
    RUN(test_others_are_right_while_a_kernel_divides_by_zero);
    RUN(test_others_are_right_while_a_kernel_traps);
    return 0;
}
