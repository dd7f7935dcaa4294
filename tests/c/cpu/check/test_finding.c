/* SPDX-License-Identifier: MIT */
/* The store of findings: equal ones are one, and each is shown when it is new. */
/* sources: core cpu/base/check_kinds cpu/base/thread cpu/check */
/* libraries: -Wl,-z,now */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/finding.h"
#include "cpu/check/kernel_name.h"
#include "cpu/check/output.h"
#include "cpu/check/summary.h"

#define STACK_BYTES 4096 /* of a lane in a busy section */

static char text[1 << 22];

static struct ha_check_finding
finding_at(uint32_t line)
{
    return (struct ha_check_finding){
        .what = HA_FOUND_OUT_OF_BOUNDS,
        .here = {.bits = HA_CHECK_WRITES,
                 .bytes = 4,
                 .kernel = "k(int*)",
                 .file = "none.hip",
                 .line = line},
    };
}

static void
add_at(uint32_t line)
{
    struct ha_check_finding found = finding_at(line);

    ha_finding_add(&found);
}

/* What a child that runs `work` writes to stderr.  As a new process it has no findings
 * of ours. */
static const char *
stderr_of(void (*work)(void))
{
    int ends[2];
    size_t used = 0;

    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(dup2(ends[1], STDERR_FILENO) >= 0);
        ha_check_after_fork_child();
        ha_check_kinds_set(HA_CHECK_MEMORY);
        ha_summary_begin();
        work();
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;) {
        used += (size_t)got;
    }
    CHECK(close(ends[0]) == 0);
    text[used] = '\0';
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    return text;
}

static unsigned
count_of(const char *in, const char *part)
{
    unsigned count = 0;

    for (const char *at = in; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    return count;
}

static int
collect(const struct ha_check_finding *found, void *context)
{
    struct ha_check_finding **to = context;

    *(*to)++ = *found;
    return 0;
}

static void
add_equal_ones(void)
{
    for (int i = 0; i < 5; i++) {
        add_at(7);
        add_at(8);
    }
    struct ha_check_finding found[2], *end = found;
    CHECK_EQUAL(ha_finding_each(collect, &end), 0);
    CHECK_EQUAL(end - found, 2);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(found[i].count, 5);
        CHECK_EQUAL(found[i].number, i + 1);
        CHECK_EQUAL(found[i].here.line, 7 + i);
    }
    struct ha_check_summary summary;
    ha_summary_get(&summary);
    CHECK_EQUAL(summary.findings, 2);
    CHECK_EQUAL(summary.counted, 10);
    ha_summary_end();
}

static void
test_equal_findings_are_shown_once_and_counted(void)
{
    const char *shown = stderr_of(add_equal_ones);

    CHECK_EQUAL(count_of(shown, "hipadapt check: out-of-bounds: an access outside"), 2);
    CHECK_EQUAL(count_of(shown, "  advice: Compare the index"), 2);
    CHECK_PART(shown, "  5 times: out-of-bounds, none.hip:7 in k(int*)\n"
                      "  5 times: out-of-bounds, none.hip:8 in k(int*)\n"
                      "hipadapt check: 2 findings, made 10 times; 0 launches");
}

static void
add_and_die(void)
{
    add_at(7);
    _exit(0);
}

static void
test_a_finding_is_shown_before_anything_else(void)
{
    CHECK_PART(stderr_of(add_and_die), "  at none.hip:7\n");
}

static void
add_many(void)
{
    for (uint32_t line = 1; line <= 10000; line++) {
        add_at(line);
    }
    struct ha_check_summary summary;
    ha_summary_get(&summary);
    CHECK_EQUAL(summary.findings, HA_FINDINGS_MAX);
    CHECK_EQUAL(summary.counted, 10000);
    CHECK_EQUAL(summary.dropped, 10000 - HA_FINDINGS_MAX);
    ha_summary_end();
}

static void
test_output_of_many_findings_is_bounded(void)
{
    const char *shown = stderr_of(add_many);

    CHECK_EQUAL(count_of(shown, "  at none.hip:"), HA_OUTPUT_SHOWN_MAX);
    CHECK_EQUAL(count_of(shown, "further findings are counted and not shown"), 1);
    CHECK_PART(shown, "1000 findings, made 10000 times, 9000 not kept;");
}

static void
add_quietly(void)
{
    ha_check_kinds_set(HA_CHECK_ALL | HA_CHECK_QUIET);
    add_at(7);
    add_at(7);
    ha_summary_launch(false);
    ha_summary_end();
}

static void
stop(void)
{
    ha_check_kinds_set(HA_CHECK_MEMORY | HA_CHECK_QUIET);
    ha_summary_begin();
    add_at(7);
    add_at(7);
    ha_check_kinds_set(0);
    ha_summary_end();
    ha_summary_clear();
}

static void
say_nothing(void)
{
    ha_check_kinds_set(HA_CHECK_ALL);
    ha_summary_begin();
    ha_summary_end();
}

static void
end_twice(void)
{
    ha_check_kinds_set(HA_CHECK_RACE);
    ha_summary_begin();
    ha_summary_launch(true);
    ha_summary_launch(false);
    ha_summary_accesses(7, 9);
    ha_summary_end();
    ha_summary_end();
}

static void
test_nothing_is_shown_where_nothing_is_to_tell(void)
{
    CHECK_TEXT(stderr_of(add_quietly), "");
    CHECK_TEXT(stderr_of(stop), "");
    CHECK_TEXT(stderr_of(say_nothing), "");
    CHECK_TEXT(stderr_of(end_twice),
               "hipadapt check: 0 findings; 1 launch checked, 1 not checked; "
               "7 accesses observed, 9 proved; checked for race\n");
}

static void
add_in_child(void)
{
    add_at(7);
    int status;
    pid_t child = fork();
    if (child == 0) {
        ha_check_after_fork_child();
        add_at(7);
        add_at(9);
        struct ha_check_finding found[2], *end = found;
        (void)ha_finding_each(collect, &end);
        CHECK_EQUAL(end - found, 2);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
}

static void
test_a_forked_child_has_findings_of_its_own(void)
{
    const char *shown = stderr_of(add_in_child);

    CHECK_EQUAL(count_of(shown, "  at none.hip:7\n"), 2);
    CHECK_EQUAL(count_of(shown, "  at none.hip:9\n"), 1);
}

static void
add_by_symbols(void)
{
    static const char *const symbols[] = {"_Z5scalePfi", "_Z5scalePfi", "_Zbroken", "k",
                                          "_Z4moreIfEvPT_"};
    for (int i = 0; i < 4; i++) {
        ha_kernel_name_add(symbols[i]);
    }
    for (int i = 0; i < 5; i++) {
        struct ha_check_finding found = finding_at(7);
        found.here.kernel = symbols[i];
        ha_finding_add(&found);
    }
    char symbol[16];
    for (unsigned i = 0; i < 5000; i++) {
        (void)snprintf(symbol, sizeof symbol, "_Z4k%03uv", i % 1000);
        ha_kernel_name_add(symbol);
        CHECK(ha_kernel_name(symbol) != symbol);
    }
    CHECK_TEXT(ha_kernel_name("_Z4k007v"), "k007()");
    for (unsigned i = 0; i < HA_KERNEL_NAMES_MAX; i++) {
        (void)snprintf(symbol, sizeof symbol, "_Z5k%04uv", i);
        ha_kernel_name_add(symbol);
    }
    CHECK_TEXT(ha_kernel_name("_Z5k4095v"), "_Z5k4095v"); /* no room */
    CHECK_TEXT(ha_kernel_name("_Z5k0000v"), "k0000()");
}

static void
test_kernels_have_the_names_of_programmers(void)
{
    const char *shown = stderr_of(add_by_symbols);

    CHECK_EQUAL(count_of(shown, "hipadapt check: "), 4);
    CHECK_EQUAL(count_of(shown, "in kernel scale(float*, int)\n"), 1);
    CHECK_EQUAL(count_of(shown, "in kernel _Zbroken\n"), 1);
    CHECK_EQUAL(count_of(shown, "in kernel k\n"), 1);
    CHECK_EQUAL(count_of(shown, "in kernel _Z4moreIfEvPT_\n"), 1); /* not added */
}

static void *
add_on_thread(void *first)
{
    for (uint32_t i = 0; i < 2000; i++) {
        add_at(1 + (*(uint32_t *)first + i) % 50);
    }
    return NULL;
}

static void
add_on_threads(void)
{
    pthread_t threads[4];
    uint32_t firsts[4] = {0, 13, 26, 39};

    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, add_on_thread, &firsts[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    static struct ha_check_finding found[HA_FINDINGS_MAX];
    struct ha_check_finding *end = found;
    (void)ha_finding_each(collect, &end);
    CHECK_EQUAL(end - found, 50);
    for (int i = 0; i < 50; i++) {
        CHECK_EQUAL(found[i].count, 160);
    }
}

static void
test_threads_find_at_once(void)
{
    const char *shown = stderr_of(add_on_threads);

    CHECK_EQUAL(count_of(shown, "hipadapt check: out-of-bounds"), 50);
    CHECK_EQUAL(count_of(shown, "  advice: "), 50);
}

static int
stop_at_second(const struct ha_check_finding *found, void *context)
{
    *(unsigned *)context += 1;
    add_at(found->here.line + 100); /* no lock is held */
    return found->here.line == 2 ? 42 : 0;
}

static void
visit(void)
{
    unsigned calls = 0;

    for (uint32_t line = 1; line <= 3; line++) {
        add_at(line);
    }
    CHECK_EQUAL(ha_finding_each(stop_at_second, &calls), 42);
    CHECK_EQUAL(calls, 2);
    ha_summary_clear();
    struct ha_check_summary summary;
    ha_summary_get(&summary);
    CHECK_EQUAL(summary.findings + summary.counted, 0);
    add_at(1);
    struct ha_check_finding found[1], *end = found;
    (void)ha_finding_each(collect, &end);
    CHECK_EQUAL(found[0].number, 6); /* numbers go on */
}

static void
test_a_visitor_may_stop_and_may_add(void)
{
    (void)stderr_of(visit);
}

static char folder[] = "/tmp/test_finding.XXXXXX", source[64];

static void
write_source(void)
{
    FILE *file = fopen(source, "w");

    CHECK(file != NULL);
    for (int i = 1; i <= 3000; i++) {
        CHECK(fprintf(file, "line %d;\r\n", i) > 0);
    }
    CHECK(fprintf(file, "last") > 0);
    CHECK(fclose(file) == 0);
}

static void
add_of_file(void)
{
    static const uint32_t lines[] = {1, 2999, 3001, 3002, 0};
    struct ha_check_finding found = finding_at(1);

    for (int i = 0; i < 5; i++) {
        found.here.file = source;
        found.here.line = lines[i];
        found.here.column = 2;
        ha_finding_add(&found);
    }
    found.here.file = folder; /* no regular file */
    found.here.line = 1;
    ha_finding_add(&found);
}

static void
test_text_of_a_line_is_read_from_its_file(void)
{
    (void)snprintf(source, sizeof source, "%s/source.hip", folder);
    write_source();
    const char *shown = stderr_of(add_of_file);

    CHECK_PART(shown, "    1 | line 1;\n      |  ^\n");
    CHECK_PART(shown, "    2999 | line 2999;\n         |  ^\n");
    CHECK_PART(shown, "    3001 | last\n");
    CHECK_EQUAL(count_of(shown, " | "), 6);
    CHECK_EQUAL(count_of(shown, "hipadapt check: "), 6);
}

static ucontext_t back, lane;

static void
add_on_lane(void)
{
    struct ha_check_finding found = finding_at(2999);

    found.here.file = source;
    found.here.column = 170;
    found.other = found.here;
    found.other.stack = "a\nb\nc";
    found.memory.space = HA_SPACE_GLOBAL;
    ha_finding_add(&found);
}

static void
add_on_small_stack(void)
{
    long page = sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)page + STACK_BYTES;
    char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK(mprotect(memory, (size_t)page, PROT_NONE) == 0);
    CHECK(getcontext(&lane) == 0);
    lane.uc_stack.ss_sp = memory + page;
    lane.uc_stack.ss_size = STACK_BYTES;
    lane.uc_link = &back;
    makecontext(&lane, add_on_lane, 0);
    CHECK(swapcontext(&back, &lane) == 0);
    memory += page;
    size_t left = 0;
    while (left < STACK_BYTES && memory[left] == 0) {
        left++;
    }
    CHECK(left > STACK_BYTES / 4); /* for what calls it */
}

static void
test_a_finding_needs_little_stack(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* their code has larger frames */
#endif
    const char *shown = stderr_of(add_on_small_stack);

    CHECK_EQUAL(count_of(shown, "    2999 | line 2999;\n"), 2);
}

int
main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    RUN(test_equal_findings_are_shown_once_and_counted);
    RUN(test_a_finding_is_shown_before_anything_else);
    RUN(test_output_of_many_findings_is_bounded);
    RUN(test_nothing_is_shown_where_nothing_is_to_tell);
    RUN(test_a_forked_child_has_findings_of_its_own);
    RUN(test_kernels_have_the_names_of_programmers);
    RUN(test_threads_find_at_once);
    RUN(test_a_visitor_may_stop_and_may_add);
    RUN(test_text_of_a_line_is_read_from_its_file);
    RUN(test_a_finding_needs_little_stack);
    CHECK(unlink(source) == 0 && rmdir(folder) == 0);
    return 0;
}
