/* SPDX-License-Identifier: MIT */
/* The option parser alone: random command lines never bring forth an argument of the
 * compiler that is not of our making. */
/* sources: core cpu/compile/options cpu/compile/buffer */
#include "check.h"
#include "cpu/compile/options.h"

#include <stdint.h>

static const struct ha_options_context context = {
    .arch = "gfx000:cpu",
    .warp_size = 32,
    .header_names = (const char *const[]){"given.h"},
    .header_count = 1,
};

static enum ha_status
parse(struct ha_options *options, uint32_t count, const char *const *list)
{
    return ha_options_parse(list, count, &context, options);
}

#define PARSE(options, ...)                                                            \
    parse(options, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),             \
          (const char *[]){__VA_ARGS__})

static bool
has(const struct ha_options *options, const char *argument)
{
    return ha_list_has(&options->front, argument);
}

static void
test_defaults(void)
{
    struct ha_options options;
    CHECK_EQUAL(parse(&options, 0, NULL), HA_OK);
    CHECK_EQUAL(options.level, 3);
    CHECK(has(&options, "-std=gnu++17"));
    CHECK(!has(&options, "-ffast-math"));
    CHECK_EQUAL(options.notes.size, 0);
    ha_options_release(&options);
}

static void
test_fast_math_is_a_set_that_later_options_change(void)
{
    struct ha_options options;
    CHECK_EQUAL(PARSE(&options, "-ffast-math"), HA_OK);
    CHECK(has(&options, "-ffast-math") && has(&options, "-menable-no-nans"));
    ha_options_release(&options);
    CHECK_EQUAL(PARSE(&options, "-ffast-math", "-fno-finite-math-only"), HA_OK);
    CHECK(!has(&options, "-ffast-math") && !has(&options, "-menable-no-nans"));
    CHECK(!has(&options, "-menable-no-infs") && has(&options, "-mreassociate"));
    CHECK(has(&options, "-funsafe-math-optimizations"));
    ha_options_release(&options);
    CHECK_EQUAL(PARSE(&options, "-fno-fast-math", "-Ofast"), HA_OK);
    CHECK(has(&options, "-ffast-math"));
    CHECK_EQUAL(options.level, 3);
    ha_options_release(&options);
}

static void
test_own_architecture_is_accepted_with_and_without_features(void)
{
    struct ha_options options;
    CHECK_EQUAL(PARSE(&options, "--offload-arch=gfx000:cpu",
                      "--gpu-architecture=gfx000", "--offload-arch", "gfx000"),
                HA_OK);
    ha_options_release(&options);
    CHECK_EQUAL(PARSE(&options, "--offload-arch=gfx0001"), HA_ERROR_INVALID);
    CHECK_PART(ha_error_text(), "--offload-arch=gfx0001");
    CHECK_PART(ha_error_text(), "gfx000");
    ha_options_release(&options);
}

static void
test_relative_folder_becomes_absolute(void)
{
    struct ha_options options;
    CHECK_EQUAL(PARSE(&options, "-Irelative", "-I", "/absolute"), HA_OK);
    CHECK_EQUAL(options.dirs.count, 2);
    CHECK(options.dirs.items[0][0] == '/');
    CHECK_TEXT(options.dirs.items[1], "/absolute");
    ha_options_release(&options);
}

static void
test_null_is_refused(void)
{
    struct ha_options options;
    CHECK_EQUAL(PARSE(&options, "-O1", NULL), HA_ERROR_INVALID);
    ha_options_release(&options);
}

static void
test_macro_becomes_a_line_of_its_own(void)
{
    struct ha_options options;
    CHECK_EQUAL(PARSE(&options, "-DA", "-D", "F(x)=x=1", "-UB", "-DC=\\"), HA_OK);
    CHECK_TEXT(options.macros.bytes, "#undef A\n#define A 1\n\n#undef F\n"
                                     "#define F(x) x=1\n\n#undef B\n"
                                     "#undef C\n#define C \\\n\n");
    ha_options_release(&options);
    CHECK_EQUAL(PARSE(&options, "-DA=1\n#error"), HA_ERROR_INVALID);
    ha_options_release(&options);
    CHECK_EQUAL(PARSE(&options, "-D=1"), HA_ERROR_INVALID);
    ha_options_release(&options);
}

/* What may stand at the start of an argument that we give to the compiler; the values
 * of -I and -isystem are absolute paths, those of the two limits numbers. */
static bool
is_ours(const char *argument)
{
    static const char *const starts[] = {
        "-I",        "-isystem",  "-std=",         "-W",        "-w",
        "-pedantic", "-ff",       "-fno-",         "-fapprox-", "-fbr",
        "-fcon",     "-ftem",     "-ferror-limit", "-fwrapv",   "-frecip",
        "-funsafe-", "-menable-", "-mreassociate", "-relaxed-", "/",
    };
    if (argument[0] >= '0' && argument[0] <= '9') {
        return strspn(argument, "0123456789") == strlen(argument);
    }
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (strncmp(argument, starts[i], strlen(starts[i])) == 0) {
            return strncmp(argument, "-W", 2) != 0 || strchr(argument, ',') == NULL;
        }
    }
    return false;
}

static uint64_t seed = 88172645463325252u;

static uint32_t
chance(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % below);
}

static void
test_random_options_never_slip_through(void)
{
    static const char *const pieces[] = {
        "-D",
        "-U",
        "-I",
        "-O",
        "-W",
        "-o",
        "-std=",
        "c++17",
        "-f",
        "fast-math",
        "-include",
        "given.h",
        "@file",
        "-Xclang",
        "-mllvm",
        "=",
        ",",
        " ",
        "\n",
        "-M",
        "p,-MD",
        "3",
        "no-",
        "--",
        "-x",
        "hip",
        "-g",
        "-isystem",
        "-ftemplate-depth=",
        "-ferror-limit=",
        "--offload-arch=",
        "gfx000",
        "/tmp/x",
        "-",
    };
    enum { PIECES = sizeof pieces / sizeof pieces[0], OPTIONS = 4 };
    unsigned accepted = 0;
    for (int turn = 0; turn < 300000; turn++) {
        char texts[OPTIONS][128];
        const char *list[OPTIONS];
        uint32_t count = 1 + chance(OPTIONS);
        for (uint32_t i = 0; i < count; i++) {
            texts[i][0] = '\0';
            for (uint32_t j = chance(4); j > 0; j--) {
                (void)strcat(texts[i], pieces[chance(PIECES)]);
            }
            list[i] = texts[i];
        }
        struct ha_options options;
        if (parse(&options, count, list) == HA_OK) {
            accepted++;
            for (uint32_t i = 0; i < options.front.count; i++) {
                CHECK(is_ours(options.front.items[i]));
            }
        }
        ha_options_release(&options);
    }
    CHECK(accepted > 1000);
}

int
main(void)
{
    RUN(test_defaults);
    RUN(test_fast_math_is_a_set_that_later_options_change);
    RUN(test_own_architecture_is_accepted_with_and_without_features);
    RUN(test_relative_folder_becomes_absolute);
    RUN(test_null_is_refused);
    RUN(test_macro_becomes_a_line_of_its_own);
    RUN(test_random_options_never_slip_through);
    return 0;
}
