/* SPDX-License-Identifier: MIT */
/* Verbose lines: words, fields, and a writer among threads. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "tool/events.h"
#include "tool/ring.h"
#include "tool/verbose/kinds.h"
#include "tool/verbose/line.h"
#include "tool/verbose/words.h"
#include "tool/verbose/writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, EACH = 20000, TEXT_BYTES = 64 };

static void
words(void)
{
    char unknown[300], list[HA_VERBOSE_LIST_BYTES];
    unsigned wanted;

    CHECK(ha_verbose_words("profile,none, check", &wanted, unknown, sizeof unknown));
    CHECK_EQUAL(wanted, HA_VERBOSE_CHECK);
    CHECK(!ha_verbose_words("1,bad one,worse", &wanted, unknown, sizeof unknown));
    CHECK_EQUAL(wanted, HA_VERBOSE_ERROR | HA_VERBOSE_EXEC);
    CHECK(strcmp(unknown, "'bad one'") == 0);
    ha_verbose_list(HA_VERBOSE_ALL, list);
    CHECK(strcmp(list, "error,check,profile_create,profile_exec") == 0);
}

/* ---- fields ---- */

static int
digit(char letter)
{
    return letter <= '9' ? letter - '0' : letter - 'A' + 10;
}

static size_t
decode(char *to, const char *from, size_t bytes)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++) {
        if (from[i] == '%') {
            to[count++] = (char)(digit(from[i + 1]) * 16 + digit(from[i + 2]));
            i += 2;
        } else {
            to[count++] = from[i];
        }
    }
    return count;
}

static void
fields(void)
{
    char text[TEXT_BYTES], field[3 * TEXT_BYTES], back[TEXT_BYTES];

    srand(14);
    for (int round = 0; round < 100000; round++) {
        size_t bytes = (size_t)rand() % TEXT_BYTES;
        for (size_t i = 0; i < bytes; i++) {
            text[i] = (char)(rand() % 3 == 0 ? 0xc0 + rand() % 64 : rand());
        }
        size_t used = (size_t)(ha_line_field(field, text, bytes) - field);
        CHECK(used <= 3 * bytes);
        for (size_t i = 0; i < used; i++) {
            unsigned char byte = (unsigned char)field[i];
            CHECK(byte >= 0x20 && byte != ',' && byte != 0x7f);
        }
        CHECK_EQUAL(decode(back, field, used), bytes);
        CHECK(memcmp(back, text, bytes) == 0);
    }
}

/* ---- the writer ---- */

static void *
send(void *number)
{
    uint64_t thread = (uintptr_t)number;

    for (uint64_t i = 0; i < EACH; i++) {
        const struct ha_trace_event event = {
            .kind = HA_VERBOSE_COPY,
            .thread = (uint32_t)thread,
            .correlation = thread * EACH + i + 1,
            .start = i + 1,
            .end = ha_events_now(),
            .bytes = i,
        };
        ha_line_writer_put(&event);
    }
    return NULL;
}

/* Every event has its line, whole, and the lines of a thread are in its order. */
static void
read_back(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t next[THREADS] = {0}, count = 0;
    char line[1024];

    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long long id;
        const char *found = strstr(line, "corr:");
        CHECK(line[strlen(line) - 1] == '\n');
        if (found == NULL) {
            continue;
        }
        CHECK_EQUAL(sscanf(found, "corr:%llu", &id), 1);
        uint64_t thread = (id - 1) / EACH;
        CHECK(thread < THREADS);
        CHECK_EQUAL((id - 1) % EACH, next[thread]);
        next[thread]++;
        count++;
    }
    CHECK_EQUAL(count, THREADS * EACH);
    CHECK(fclose(file) == 0);
}

static void
writer(void)
{
    char path[] = "/tmp/hipadapt-verbose-XXXXXX";
    struct ha_collector *collector = ha_collector_new(4096, 1 << 17, false);
    pthread_t threads[THREADS];
    int fd = mkstemp(path);

    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(collector != NULL);
    CHECK_EQUAL(ha_line_writer_start(collector), HA_OK);
    CHECK_EQUAL(ha_line_writer_to(path, false), HA_OK);
    for (uintptr_t i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, send, (void *)i), 0);
    }
    /* Who asks meanwhile waits for what is there. */
    CHECK(ha_line_writer_flush(60000));
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    CHECK(ha_line_writer_flush(60000));
    struct ha_line_counts counts = ha_line_writer_count();
    CHECK_EQUAL(counts.written, THREADS * EACH);
    CHECK_EQUAL(counts.lost, 0);
    read_back(path);
    CHECK(unlink(path) == 0);
}

int
main(void)
{
    words();
    fields();
    writer();
    return 0;
}
