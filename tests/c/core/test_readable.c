/* SPDX-License-Identifier: MIT */
/* Whether memory can be read, asked without a fault. */
/* sources: core */
#include "check.h"
#include "core/readable.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 4 };

static size_t page_bytes;

/* Pages of which the last one may not be touched. */
static char *
map_pages(void)
{
    char *map = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED);
    CHECK_EQUAL(mprotect(map + (PAGES - 1) * page_bytes, page_bytes, PROT_NONE), 0);
    return map;
}

static void
test_memory_is_readable_up_to_the_page_that_is_not(void)
{
    char *map = map_pages();
    size_t whole = (PAGES - 1) * page_bytes;

    errno = ERANGE;
    CHECK(ha_memory_readable(map, whole));
    CHECK(ha_memory_readable(map + 1, whole - 1));
    CHECK(ha_memory_readable(map + whole - 1, 1));
    CHECK(!ha_memory_readable(map, whole + 1));
    CHECK(!ha_memory_readable(map + whole, 1));
    CHECK(!ha_memory_readable(map + whole - 1, 2));

    CHECK_EQUAL(errno, ERANGE);
    CHECK_EQUAL(munmap(map, PAGES * page_bytes), 0);
    CHECK(!ha_memory_readable(map, 1));
}

static void
test_what_no_process_has_is_not_readable(void)
{
    CHECK(!ha_memory_readable(NULL, 1));
    CHECK(!ha_memory_readable((void *)(uintptr_t)4095, 1));
    CHECK(!ha_memory_readable((void *)UINTPTR_MAX, 1));
    CHECK(!ha_memory_readable((void *)(uintptr_t)0x500000100000001, 8));
    CHECK(!ha_memory_readable(&page_bytes, SIZE_MAX));
    CHECK(ha_memory_impossible((void *)(uintptr_t)0x500000100000001));
    CHECK(ha_memory_impossible(NULL));
    CHECK(!ha_memory_impossible(&page_bytes));

    CHECK(ha_memory_readable(NULL, 0));
}

static void
test_text_is_readable_if_its_end_is_reached(void)
{
    char *map = map_pages();
    size_t whole = (PAGES - 1) * page_bytes;
    size_t length = 77;

    memset(map, 'x', whole);
    CHECK(!ha_text_readable(map, &length));
    CHECK_EQUAL(length, 77);

    map[whole - 1] = '\0';
    CHECK(ha_text_readable(map + 5, &length));
    CHECK_EQUAL(length, whole - 6);
    CHECK(ha_text_readable(map + whole - 1, &length));
    CHECK_EQUAL(length, 0);
    CHECK(!ha_text_readable((const char *)(uintptr_t)5, &length));
    CHECK_EQUAL(munmap(map, PAGES * page_bytes), 0);
}

int
main(void)
{
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    test_memory_is_readable_up_to_the_page_that_is_not();
    test_what_no_process_has_is_not_readable();
    test_text_is_readable_if_its_end_is_reached();
    return 0;
}
