/* SPDX-License-Identifier: MIT */
#include "cpu/work/call_config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/error.h"

#define DEPTH_MAX 64u
#define ARGUMENT_BYTES_MAX 65536u
#define ARGUMENT_GRAIN 256u /* bytes by which the arguments' memory grows */

struct stack {
    uint32_t depth;
    struct ha_call_config configs[DEPTH_MAX];
};

static pthread_key_t key;
static int key_status;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void
stack_destroy(void *memory)
{
    struct stack *stack = memory;
    for (uint32_t i = 0; i < stack->depth; i++) {
        free(stack->configs[i].arguments);
    }
    free(stack);
}

static void
key_make(void)
{
    key_status = pthread_key_create(&key, stack_destroy);
}

/* The thread's stack, or NULL if it has none (and, if `make`, can't have one). */
static struct stack *
stack_get(int make)
{
    pthread_once(&key_once, key_make);
    if (key_status != 0) {
        return NULL;
    }
    struct stack *stack = pthread_getspecific(key);
    if (stack == NULL && make) {
        stack = calloc(1, sizeof *stack);
        if (stack != NULL && pthread_setspecific(key, stack) != 0) {
            free(stack);
            stack = NULL;
        }
    }
    return stack;
}

hipError_t
ha_call_config_push(const struct ha_call_config *config)
{
    struct stack *stack = stack_get(1);
    if (stack == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for a launch configuration");
    }
    if (stack->depth == DEPTH_MAX) {
        return ha_cpu_fail(hipErrorOutOfMemory,
                           "%u launch configurations wait for their launch", DEPTH_MAX);
    }
    struct ha_call_config *top = &stack->configs[stack->depth++];
    *top = *config;
    top->arguments = NULL;
    top->argument_bytes = 0;
    return hipSuccess;
}

static hipError_t
missing(void)
{
    return ha_cpu_fail(hipErrorMissingConfiguration,
                       "there is no launch configuration (hipConfigureCall)");
}

hipError_t
ha_call_config_argument(const void *argument, size_t size, size_t offset)
{
    struct stack *stack = stack_get(0);
    if (stack == NULL || stack->depth == 0) {
        return missing();
    }
    if (offset > ARGUMENT_BYTES_MAX || size > ARGUMENT_BYTES_MAX - offset) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "an argument of %zu bytes at offset %zu is past the limit of %u bytes",
            size, offset, ARGUMENT_BYTES_MAX);
    }
    struct ha_call_config *top = &stack->configs[stack->depth - 1];
    size_t end = offset + size;
    if (end > top->argument_bytes) {
        size_t room = (end + ARGUMENT_GRAIN - 1) / ARGUMENT_GRAIN * ARGUMENT_GRAIN;
        unsigned char *grown = realloc(top->arguments, room);
        if (grown == NULL) {
            return ha_cpu_fail(hipErrorOutOfMemory, "no memory for an argument");
        }
        memset(grown + top->argument_bytes, 0, room - top->argument_bytes);
        top->arguments = grown;
        top->argument_bytes = end;
    }
    memcpy(top->arguments + offset, argument, size);
    return hipSuccess;
}

hipError_t
ha_call_config_pop(struct ha_call_config *config)
{
    struct stack *stack = stack_get(0);
    if (stack == NULL || stack->depth == 0) {
        return missing();
    }
    *config = stack->configs[--stack->depth];
    return hipSuccess;
}
