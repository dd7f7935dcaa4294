/* SPDX-License-Identifier: MIT */
/* The text of a finding, and its line of JSON. */
/* sources: core cpu/base/check_kinds cpu/base/thread cpu/check */
#include "check.h"

#include "cpu/check/finding.h"
#include "cpu/check/report.h"

#define NOWHERE {HA_CHECK_NOWHERE, HA_CHECK_NOWHERE, HA_CHECK_NOWHERE}

static char text[HA_REPORT_BYTES + 1];

static const struct ha_check_finding overrun = {
    .what = HA_FOUND_OUT_OF_BOUNDS,
    .number = 3,
    .count = 1,
    .message = "write behind the end of an allocation",
    .advice = "Ask for more.",
    .address = 0x1194,
    .here = {.bits = HA_CHECK_WRITES,
             .bytes = 4,
             .kernel = "scale(float*, int)",
             .function = "store(float*)",
             .file = "scale.hip",
             .text = "\tx[i] = 1;",
             .line = 7,
             .column = 4,
             .block = {3, 0, 0},
             .thread = {17, 1, 2}},
    .memory = {.space = HA_SPACE_GLOBAL,
               .base = 0x1000,
               .bytes = 400,
               .allocated = "hipMalloc",
               .allocated_by = "train.py:12 in main\ntrain.py:40 in <module>",
               .freed = "hipFree",
               .freed_by = "train.py:15 in main"},
};

static const char *
text_of(const struct ha_check_finding *found)
{
    struct ha_writer writer = {.text = text, .room = sizeof text - 1};

    ha_check_report_text(&writer, found);
    CHECK(writer.needed < sizeof text);
    text[writer.needed] = '\0';
    return text;
}

static const char *
json_of(const struct ha_check_finding *found)
{
    struct ha_writer writer = {.text = text, .room = sizeof text - 1};

    ha_check_report_json(&writer, found);
    CHECK(writer.needed < sizeof text);
    text[writer.needed] = '\0';
    return text;
}

static void
test_text_tells_all(void)
{
    CHECK_TEXT(
        text_of(&overrun),
        "hipadapt check: out-of-bounds: write behind the end of an allocation\n"
        "  write of 4 bytes in kernel scale(float*, int)\n"
        "  at scale.hip:7:4, in store(float*)\n"
        "    7 |     x[i] = 1;\n"
        "      |       ^\n"
        "  by block (3, 0, 0), thread (17, 1, 2)\n"
        "  address 0x1194: 4 bytes behind the end of 400 bytes of global memory\n"
        "  allocated by hipMalloc\n"
        "      train.py:12 in main\n"
        "      train.py:40 in <module>\n"
        "  freed by hipFree\n"
        "      train.py:15 in main\n"
        "  advice: Ask for more.\n");
}

static void
test_race_has_two_sides(void)
{
    struct ha_check_finding race = {
        .what = HA_FOUND_RACE,
        .device = 2,
        .address = 0x2000,
        .here = {.bits = HA_CHECK_READS,
                 .bytes = 8,
                 .kernel = "k",
                 .file = "k.hip",
                 .line = 5,
                 .block = {0, 0, 0},
                 .thread = {1, 0, 0}},
        .other = {.bits = HA_CHECK_WRITES | HA_CHECK_READS | HA_CHECK_ATOMIC,
                  .bytes = 1,
                  .call = "hipMemcpy",
                  .stack = "main.py:3",
                  .block = NOWHERE,
                  .thread = NOWHERE},
        .memory = {.space = HA_SPACE_SHARED,
                   .name = "tile",
                   .base = 0x1ff0,
                   .bytes = 64},
    };
    CHECK_TEXT(text_of(&race),
               "hipadapt check: race: two accesses to the same bytes that nothing "
               "orders, one of which writes, on device 2\n"
               "  read of 8 bytes in kernel k\n"
               "  at k.hip:5\n"
               "  by block (0, 0, 0), thread (1, 0, 0)\n"
               "  earlier: atomic update of 1 byte by hipMemcpy\n"
               "      main.py:3\n"
               "  address 0x2000: at byte 16 of 64 bytes of shared memory, tile\n"
               "  advice: Order them: a barrier between threads of a block, atomic "
               "operations between blocks, one stream or an event between kernels.\n");
}

static void
check_relation(uint64_t address, uint64_t bytes, const char *want)
{
    struct ha_check_finding found = overrun;

    found.address = address;
    found.memory.bytes = bytes;
    CHECK_PART(text_of(&found), want);
}

static void
test_memory_that_nobody_wrote_is_told_without_an_address(void)
{
    struct ha_check_finding found = {
        .size = sizeof found,
        .what = HA_FOUND_UNINITIALISED,
        .here = {.kernel = "k"},
        .memory = {.space = HA_SPACE_LOCAL, .bytes = 4, .name = "value"},
    };
    const char *told = text_of(&found);
    CHECK(strstr(told, "\n  nobody wrote: 4 bytes of local memory, value\n") != NULL);
    CHECK(strstr(told, "address") == NULL);
}

static void
test_address_is_told_by_its_allocation(void)
{
    check_relation(0xfff, 400, "0xfff: 1 byte before 400 bytes of");
    check_relation(0x1000, 400, "0x1000: at byte 0 of 400 bytes of");
    check_relation(0x118e, 400, "0x118e: at byte 398, 2 bytes over the end, of 400 ");
    check_relation(0x1190, 400, "0x1190: right behind the end of 400 bytes of");
    check_relation(0x1191, 400, "0x1191: 1 byte behind the end of 400 bytes of");
    check_relation(UINT64_MAX, 1, "bytes behind the end of 1 byte of global memory");
    check_relation(0, UINT64_MAX, "0x0: 4096 bytes before 18446744073709551615 bytes");
}

static void
test_columns_are_those_of_people(void)
{
    struct ha_check_finding found = overrun;

    found.here.text = "a\xc3\xa9\xff"
                      "b = c;";
    found.here.column = 5; /* of the b */
    CHECK_PART(text_of(&found), "    7 | a\xc3\xa9\\xffb = c;\n      |       ^\n");
    found.here.column = 500; /* of a line that has become shorter */
    CHECK(strstr(text_of(&found), "^") == NULL);

    char line[1001];
    memset(line, 'x', 1000);
    line[1000] = '\0';
    line[899] = '@';
    found.here.text = line;
    found.here.column = 900;
    const char *shown = strstr(text_of(&found), " | ...x");
    CHECK(shown != NULL);
    const char *caret = strstr(shown, "      | ");
    CHECK(strchr(shown, '@') - shown == strchr(caret, '^') - (caret + 5));
    CHECK(strchr(shown, '\n') - shown < 180);
}

static void
test_texts_do_not_reach_the_terminal_as_they_are(void)
{
    struct ha_check_finding found = overrun;

    found.message = "a\x1b[31m\xc2\x9b"
                    "2J\nb";
    CHECK_PART(text_of(&found), "out-of-bounds: a\\x1b[31m\\xc2\\x9b2J\\x0ab\n");
}

static void
test_json_is_the_finding(void)
{
    const char *line = json_of(&overrun);

    CHECK(strncmp(line, "{\"type\": \"finding\", \"process\": ", 31) == 0);
    CHECK_PART(line,
               ", \"number\": 3, \"kind\": \"out-of-bounds\", \"word\": \"memory\", "
               "\"count\": 1, \"device\": 0, ");
    CHECK_PART(line, "\"address\": \"0x1194\", \"here\": {\"access\": [\"write\"], "
                     "\"bytes\": 4, \"kernel\": \"scale(float*, int)\", ");
    CHECK_PART(line, "\"text\": \"\\tx[i] = 1;\", \"block\": [3, 0, 0], "
                     "\"thread\": [17, 1, 2], \"stack\": \"\"}, \"other\": null, ");
    CHECK_PART(line, "\"memory\": {\"space\": \"global\", \"name\": \"\", \"base\": "
                     "\"0x1000\", \"bytes\": 400, \"allocated\": \"hipMalloc\", ");
    CHECK_PART(line, "\"freed_by\": \"train.py:15 in main\"}, \"report\": "
                     "\"hipadapt check: out-of-bounds: write behind");
    CHECK_PART(line, "\\n  advice: Ask for more.\\n\"}");
    CHECK(strchr(line, '\n') == NULL);
}

/* Each string in place of each text: no text is longer than its bound, and all of it is
 * UTF-8 without control characters. */
static void
check_hostile(const char *word)
{
    struct ha_check_finding found = overrun;
    struct ha_check_side side = {.bits = UINT32_MAX,
                                 .bytes = UINT32_MAX,
                                 .kernel = word,
                                 .call = word,
                                 .function = word,
                                 .file = word,
                                 .text = word,
                                 .line = UINT32_MAX,
                                 .column = 170,
                                 .stack = word};

    found.message = found.advice = word;
    found.here = found.other = side;
    found.memory =
        (struct ha_check_memory){HA_SPACE_HEAP, word, 0, 0, word, word, word, word};
    for (int json = 0; json < 2; json++) {
        const char *at = json ? json_of(&found) : text_of(&found);
        CHECK(strlen(at) < HA_REPORT_BYTES);
        for (size_t size; *at != '\0'; at += size) {
            size = ha_utf8_size(at);
            CHECK(size > 0);
            CHECK((unsigned char)*at >= 0x20 || (*at == '\n' && !json));
        }
    }
}

static void
test_any_text_is_bounded_and_valid(void)
{
    static char word[100001];

    for (unsigned first = 1; first < 256; first++) {
        memset(word, (int)first, sizeof word - 1);
        check_hostile(word);
        memset(word, "\xc3\xe2\xf0\n\"\\"[first % 6], sizeof word - 1);
        word[first] = '\xa9';
        check_hostile(word);
    }
    static const char *const bad[] = {"\xc0\x80",         "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80", "\xe2\x82",
                                      "\xf5\x80\x80\x80", "\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQUAL(ha_utf8_size(bad[i]), 0);
        check_hostile(bad[i]);
    }
    CHECK_EQUAL(ha_utf8_size("\xf4\x8f\xbf\xbf"), 4);
    CHECK_EQUAL(ha_utf8_size("\xed\x9f\xbf"), 3);
}

static void
test_a_message_with_its_kind_is_told_as_it_is(void)
{
    struct ha_check_finding found = {.what = HA_FOUND_RACE, .message = "race: two"};

    CHECK(strncmp(text_of(&found), "hipadapt check: race: two\n", 26) == 0);
}

static void
test_an_empty_finding_is_told(void)
{
    struct ha_check_finding found = {.what = (enum ha_check_what)99};

    CHECK_TEXT(text_of(&found),
               "hipadapt check: unknown: a finding of no known kind\n");
    CHECK_PART(json_of(&found), "\"here\": {\"access\": [], \"bytes\": 0");
    CHECK_PART(json_of(&found), "\"other\": null, \"memory\": null, \"report\": \"hip");
}

static void
test_summary_tells_what_was_not_checked(void)
{
    struct ha_writer writer = {.text = text, .room = sizeof text - 1};
    struct ha_check_summary summary = {.kinds = HA_CHECK_MEMORY | HA_CHECK_RACE,
                                       .findings = 2,
                                       .counted = 9,
                                       .dropped = 1,
                                       .launches = 5,
                                       .unchecked = 2,
                                       .observed = 3,
                                       .proved = 4};
    ha_check_report_summary_text(&writer, &summary);
    text[writer.needed] = '\0';
    CHECK_TEXT(text, "hipadapt check: 2 findings, made 9 times, 1 not kept; 5 launches "
                     "checked, 2 not checked; 3 accesses observed, 4 proved; checked "
                     "for memory,race\n");
}

int
main(void)
{
    RUN(test_text_tells_all);
    RUN(test_race_has_two_sides);
    RUN(test_memory_that_nobody_wrote_is_told_without_an_address);
    RUN(test_address_is_told_by_its_allocation);
    RUN(test_columns_are_those_of_people);
    RUN(test_texts_do_not_reach_the_terminal_as_they_are);
    RUN(test_json_is_the_finding);
    RUN(test_any_text_is_bounded_and_valid);
    RUN(test_a_message_with_its_kind_is_told_as_it_is);
    RUN(test_an_empty_finding_is_told);
    RUN(test_summary_tells_what_was_not_checked);
    return 0;
}
