/* SPDX-License-Identifier: MIT */
#include "cpu/compile/options.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVEL_DEFAULT 3
#define DIGITS_MAX 9
/* hiprtc's macro that says which type ptrdiff_t is; the one that our headers heed. */
#define PTRDIFF_MACRO "__HIPRTC_PTRDIFF_T_IS_LONG_LONG__"

struct parser {
    const char *const *options;
    uint32_t count;
    uint32_t at; /* the option being parsed */
    const struct ha_options_context *context;
    struct ha_options *result;
    unsigned math;        /* MATH_* */
    const char *contract; /* constant: the value of -ffp-contract, or NULL */
    const char *standard; /* borrowed from the options */
};

static enum ha_status
refuse(const struct parser *parser, const char *why)
{
    return ha_error_set(HA_ERROR_INVALID, "hiprtc option '%.200s': %s",
                        parser->options[parser->at], why);
}

static void
note(struct parser *parser)
{
    ha_buffer_format(&parser->result->notes,
                     "note: option '%s' has no effect on the CPU device\n",
                     parser->options[parser->at]);
}

/* ---- options that stand alone: what reaches the front end instead of them ---- */

/* Liberties with floating point that can be taken one by one. */
#define MATH_NO_NANS (1u << 0)
#define MATH_NO_INFS (1u << 1)
#define MATH_NO_SIGNED_ZEROS (1u << 2)
#define MATH_REASSOCIATE (1u << 3)
#define MATH_RECIPROCAL (1u << 4)
#define MATH_APPROXIMATE (1u << 5)
#define MATH_FINITE (MATH_NO_NANS | MATH_NO_INFS)
#define MATH_UNSAFE                                                                    \
    (MATH_NO_SIGNED_ZEROS | MATH_REASSOCIATE | MATH_RECIPROCAL | MATH_APPROXIMATE)
#define MATH_FAST (MATH_FINITE | MATH_UNSAFE)

enum act {
    PASS,
    QUIET,
    NOTE,
    MATH,
    NO_MATH,
    WAVE32,
    WAVE64,
    RELOCATABLE,
    WHOLE,
    EXPLAIN,
    PROGRAM
};

struct exact {
    const char *name;
    enum act act;
    const char *front; /* NULL = the name itself */
    unsigned math;
};

static const struct exact exact_table[] = {
    {"-ffast-math", MATH, NULL, MATH_FAST},
    {"-fno-fast-math", NO_MATH, NULL, MATH_FAST},
    {"-funsafe-math-optimizations", MATH, NULL, MATH_UNSAFE},
    {"-fno-unsafe-math-optimizations", NO_MATH, NULL, MATH_UNSAFE},
    {"-ffinite-math-only", MATH, NULL, MATH_FINITE},
    {"-fno-finite-math-only", NO_MATH, NULL, MATH_FINITE},
    {"-fhonor-nans", NO_MATH, NULL, MATH_NO_NANS},
    {"-fno-honor-nans", MATH, NULL, MATH_NO_NANS},
    {"-fhonor-infinities", NO_MATH, NULL, MATH_NO_INFS},
    {"-fno-honor-infinities", MATH, NULL, MATH_NO_INFS},
    {"-fno-signed-zeros", MATH, NULL, MATH_NO_SIGNED_ZEROS},
    {"-fsigned-zeros", NO_MATH, NULL, MATH_NO_SIGNED_ZEROS},
    {"-fassociative-math", MATH, NULL, MATH_REASSOCIATE},
    {"-fno-associative-math", NO_MATH, NULL, MATH_REASSOCIATE},
    {"-freciprocal-math", MATH, NULL, MATH_RECIPROCAL},
    {"-fno-reciprocal-math", NO_MATH, NULL, MATH_RECIPROCAL},
    {"-fapprox-func", MATH, NULL, MATH_APPROXIMATE},
    {"-fno-approx-func", NO_MATH, NULL, MATH_APPROXIMATE},
    {"-fno-math-errno", QUIET, NULL, 0},
    {"-fhip-fp32-correctly-rounded-divide-sqrt", QUIET, NULL, 0},
    {"-fno-trapping-math", QUIET, NULL, 0},
    {"-fwrapv", PASS, NULL, 0},
    {"-fno-wrapv", QUIET, NULL, 0},
    {"-fno-strict-aliasing", PASS, "-relaxed-aliasing", 0},
    {"-fstrict-aliasing", QUIET, NULL, 0},
    {"-fsigned-char", QUIET, NULL, 0},
    {"-funsigned-char", PASS, "-fno-signed-char", 0},
    {"-w", PASS, NULL, 0},
    {"-pedantic", PASS, NULL, 0},
    {"-pedantic-errors", PASS, NULL, 0},
    {"-g", NOTE, NULL, 0},
    {"-g0", QUIET, NULL, 0},
    {"-g1", NOTE, NULL, 0},
    {"-g2", NOTE, NULL, 0},
    {"-g3", NOTE, NULL, 0},
    {"-ggdb", NOTE, NULL, 0},
    {"-gline-tables-only", NOTE, NULL, 0},
    {"-mwavefrontsize64", WAVE64, NULL, 0},
    {"-mno-wavefrontsize64", WAVE32, NULL, 0},
    /* true of every kernel here */
    {"-fno-exceptions", QUIET, NULL, 0},
    {"-fno-rtti", QUIET, NULL, 0},
    {"-fPIC", QUIET, NULL, 0},
    {"-fpic", QUIET, NULL, 0},
    {"-nogpulib", QUIET, NULL, 0},
    {"-nogpuinc", QUIET, NULL, 0},
    {"--cuda-device-only", QUIET, NULL, 0},
    {"--offload-device-only", QUIET, NULL, 0},
    {"-fgpu-rdc", RELOCATABLE, NULL, 0},
    {"-fno-gpu-rdc", WHOLE, NULL, 0},
    {HA_OPTION_EXPLAIN, EXPLAIN, NULL, 0},
    {HA_OPTION_PROGRAM, PROGRAM, NULL, 0},
    {"-fcolor-diagnostics", QUIET, NULL, 0},
    {"-fno-color-diagnostics", QUIET, NULL, 0},
    {"-fdiagnostics-color", QUIET, NULL, 0},
    {"-fno-diagnostics-color", QUIET, NULL, 0},
    /* of a GPU's code generator */
    {"-munsafe-fp-atomics", NOTE, NULL, 0},
    {"-mno-unsafe-fp-atomics", NOTE, NULL, 0},
    {"-mcumode", NOTE, NULL, 0},
    {"-mno-cumode", NOTE, NULL, 0},
    {"-mtgsplit", NOTE, NULL, 0},
    {"-mno-tgsplit", NOTE, NULL, 0},
    {"-mxnack", NOTE, NULL, 0},
    {"-mno-xnack", NOTE, NULL, 0},
    {"-msramecc", NOTE, NULL, 0},
    {"-mno-sramecc", NOTE, NULL, 0},
    {"-fgpu-flush-denormals-to-zero", NOTE, NULL, 0},
    {"-fno-gpu-flush-denormals-to-zero", NOTE, NULL, 0},
    {"-fcuda-flush-denormals-to-zero", NOTE, NULL, 0},
    {"-fgpu-approx-transcendentals", NOTE, NULL, 0},
    {"-fno-gpu-approx-transcendentals", NOTE, NULL, 0},
    {"-fgpu-sanitize", NOTE, NULL, 0},
    {"-fno-gpu-sanitize", NOTE, NULL, 0},
    {"-fhip-new-launch-api", NOTE, NULL, 0},
    {"-fhip-kernel-arg-name", NOTE, NULL, 0},
    {"-fgpu-allow-device-init", NOTE, NULL, 0},
    {"-fgpu-defer-diag", NOTE, NULL, 0},
    {"-funroll-loops", NOTE, NULL, 0},
    {"-fno-unroll-loops", NOTE, NULL, 0},
    {"-fvectorize", NOTE, NULL, 0},
    {"-fno-vectorize", NOTE, NULL, 0},
    {"-fslp-vectorize", NOTE, NULL, 0},
    {"-fno-slp-vectorize", NOTE, NULL, 0},
    {"-ftrapping-math", NOTE, NULL, 0},
    {"-mamdgpu-ieee", NOTE, NULL, 0},
    {"-mno-amdgpu-ieee", NOTE, NULL, 0},
    {"-fno-hip-fp32-correctly-rounded-divide-sqrt", NOTE, NULL, 0},
};

static enum ha_status
wavefront(struct parser *parser, uint32_t size)
{
    if (parser->context->warp_size == size) {
        return HA_OK;
    }
    char why[160];
    (void)snprintf(why, sizeof why,
                   "this device has warps of %u lanes (HIPADAPT_CPU_WARP_SIZE)",
                   parser->context->warp_size);
    return refuse(parser, why);
}

static enum ha_status
apply(struct parser *parser, const struct exact *exact)
{
    struct ha_options *result = parser->result;
    switch (exact->act) {
    case PASS:
        ha_list_add(&result->front, exact->front != NULL ? exact->front : exact->name);
        break;
    case QUIET:
        break;
    case NOTE:
        note(parser);
        break;
    case MATH:
        parser->math |= exact->math;
        break;
    case NO_MATH:
        parser->math &= ~exact->math;
        break;
    case RELOCATABLE:
        result->relocatable = true;
        break;
    case WHOLE:
        result->relocatable = false;
        break;
    case EXPLAIN:
        result->explain = true;
        break;
    case PROGRAM:
        result->program = true;
        break;
    case WAVE32:
        return wavefront(parser, 32);
    case WAVE64:
        return wavefront(parser, 64);
    }
    return HA_OK;
}

/* ---- options with a value ---- */

/* Macros become lines of the source, behind our own headers, so that no name of the
 * program's can break those.  An empty line takes up a backslash at the end of a value.
 */
static enum ha_status
take_macro(struct parser *parser, const char *text, bool define)
{
    struct ha_bytes *macros = &parser->result->macros;
    int name = (int)strcspn(text, "(=");
    size_t head = strcspn(text, "=");
    if (strpbrk(text, "\n\r") != NULL) {
        return refuse(parser, "a macro cannot hold a line break");
    }
    if (name == 0) {
        return refuse(parser, "the macro has no name");
    }
    if (define && head == strlen(PTRDIFF_MACRO) &&
        memcmp(text, PTRDIFF_MACRO, head) == 0) {
        ha_list_format(&parser->result->front, "-D" PTRDIFF_MACRO "=%d",
                       strcmp(text + head, "=0") != 0);
    }
    ha_buffer_format(macros, "#undef %.*s\n", name, text);
    if (define) {
        ha_buffer_format(macros, "#define %.*s %s\n\n", (int)head, text,
                         text[head] == '=' ? text + head + 1 : "1");
    }
    return HA_OK;
}

static enum ha_status
take_define(struct parser *parser, const char *value)
{
    return take_macro(parser, value, true);
}

static enum ha_status
take_undefine(struct parser *parser, const char *value)
{
    return take_macro(parser, value, false);
}

static enum ha_status
take_directory(struct parser *parser, const char *flag, const char *value)
{
    char path[PATH_MAX];
    if (value[0] == '-' && value[1] == '\0') {
        return refuse(parser, "not supported");
    }
    if (value[0] == '/') {
        if (strlen(value) >= sizeof path) {
            return refuse(parser, "path too long");
        }
        (void)strcpy(path, value);
    } else {
        /* Relative to where the program is now, not to where the compiler runs. */
        if (getcwd(path, sizeof path) == NULL) {
            return refuse(parser, strerror(errno));
        }
        size_t used = strlen(path);
        int size = snprintf(path + used, sizeof path - used, "/%s", value);
        if (size < 0 || (size_t)size >= sizeof path - used) {
            return refuse(parser, "path too long");
        }
    }
    ha_list_add(&parser->result->search, flag);
    ha_list_add(&parser->result->search, path);
    ha_list_add(&parser->result->dirs, path);
    return HA_OK;
}

static enum ha_status
take_user_directory(struct parser *parser, const char *value)
{
    return take_directory(parser, "-I", value);
}

static enum ha_status
take_system_directory(struct parser *parser, const char *value)
{
    return take_directory(parser, "-isystem", value);
}

static enum ha_status
take_include(struct parser *parser, const char *value)
{
    const struct ha_options_context *context = parser->context;
    /* The device header comes before every source anyway. */
    if (strcmp(value, "hip/hip_runtime.h") == 0) {
        return HA_OK;
    }
    for (uint32_t i = 0; i < context->header_count; i++) {
        if (strcmp(context->header_names[i], value) == 0) {
            ha_list_add(&parser->result->includes, value);
            return HA_OK;
        }
    }
    return refuse(parser, "only a header that was given to hiprtcCreateProgram can be "
                          "included by option");
}

static enum ha_status
take_standard(struct parser *parser, const char *value)
{
    static const char *const known[] = {
        "c++14",   "c++17",   "c++20",   "c++23",   "c++26",   "c++1y",   "c++1z",
        "c++2a",   "c++2b",   "c++2c",   "gnu++14", "gnu++17", "gnu++20", "gnu++23",
        "gnu++26", "gnu++1y", "gnu++1z", "gnu++2a", "gnu++2b", "gnu++2c",
    };
    /* The device headers need C++14, which changes little in a C++11 program. */
    if (strcmp(value, "c++11") == 0) {
        value = "c++14";
    } else if (strcmp(value, "gnu++11") == 0) {
        value = "gnu++14";
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(value, known[i]) == 0) {
            parser->standard = known[i];
            return HA_OK;
        }
    }
    return refuse(parser,
                  "not a language standard of kernels (c++11 to c++26, gnu++11 to "
                  "gnu++26)");
}

static enum ha_status
take_contract(struct parser *parser, const char *value)
{
    static const char *const known[] = {"fast", "on", "off", "fast-honor-pragmas"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(value, known[i]) == 0) {
            parser->contract = known[i];
            return HA_OK;
        }
    }
    return refuse(parser, "the value must be fast, on, off or fast-honor-pragmas");
}

/* Distinguishes static names of one file from those of another, in the code of the host
 * and of the device. */
static enum ha_status
take_cuid(struct parser *parser, const char *value)
{
    if (value[strspn(value, "0123456789abcdef")] != '\0') {
        return refuse(parser, "the value must be hexadecimal digits");
    }
    ha_list_format(&parser->result->front, "-cuid=%s", value);
    return HA_OK;
}

static enum ha_status
take_arch(struct parser *parser, const char *value)
{
    const char *arch = parser->context->arch;
    size_t own = strcspn(arch, ":"), size = strcspn(value, ":");
    if (own == size && memcmp(arch, value, size) == 0) {
        return HA_OK;
    }
    if (strcmp(value, "native") == 0 || strcmp(value, "generic") == 0) {
        return HA_OK;
    }
    char why[200];
    (void)snprintf(why, sizeof why,
                   "this is the CPU device, it compiles for '%.64s' only (gcnArchName)",
                   arch);
    return refuse(parser, why);
}

static enum ha_status
take_language(struct parser *parser, const char *value)
{
    return strcmp(value, "hip") == 0 ? HA_OK
                                     : refuse(parser, "the language must be hip");
}

static enum ha_status
take_nothing(struct parser *parser, const char *value)
{
    (void)value;
    note(parser);
    return HA_OK;
}

static enum ha_status
take_quietly(struct parser *parser, const char *value)
{
    (void)parser;
    (void)value;
    return HA_OK;
}

enum shape {
    JOINED = 1,
    SEPARATE = 2,
    BOTH = JOINED | SEPARATE, /* "-Ix" and "-I" "x" */
};

struct valued {
    const char *name;
    enum shape shape;
    enum ha_status (*take)(struct parser *parser, const char *value);
};

static const struct valued valued_table[] = {
    {"-D", BOTH, take_define},
    {"-U", BOTH, take_undefine},
    {"-isystem", BOTH, take_system_directory},
    {"-include", SEPARATE, take_include},
    {"-I", BOTH, take_user_directory},
    {"-std=", JOINED, take_standard},
    {"--std=", JOINED, take_standard},
    {"--std", SEPARATE, take_standard},
    {"-ffp-contract=", JOINED, take_contract},
    {"-cuid=", JOINED, take_cuid},
    {"--offload-arch=", JOINED, take_arch},
    {"--offload-arch", SEPARATE, take_arch},
    {"--gpu-architecture=", JOINED, take_arch},
    {"--gpu-architecture", SEPARATE, take_arch},
    {"-arch=", JOINED, take_arch},
    {"-arch", SEPARATE, take_arch},
    {"--amdgpu-target=", JOINED, take_arch},
    {"--cuda-gpu-arch=", JOINED, take_arch},
    {"-x", BOTH, take_language},
    {"-mcode-object-version=", JOINED, take_nothing},
    {"--gpu-max-threads-per-block=", JOINED, take_nothing},
    {"-fgpu-default-stream=", JOINED, take_nothing},
    {"-mprintf-kind=", JOINED, take_nothing},
    {"-mllvm", SEPARATE, take_nothing},
    {"-Rpass=", JOINED, take_nothing},
    {"-Rpass-missed=", JOINED, take_nothing},
    {"-Rpass-analysis=", JOINED, take_nothing},
    {"--rocm-path=", JOINED, take_nothing},
    {"--hip-path=", JOINED, take_nothing},
    {"--hip-version=", JOINED, take_nothing},
    {"--hip-device-lib-path=", JOINED, take_nothing},
    {"--rocm-device-lib-path=", JOINED, take_nothing},
    {"-parallel-jobs=", JOINED, take_quietly},
    {"-fdiagnostics-color=", JOINED, take_quietly},
};

/* Options whose value is a small number, handed on as the front end spells them. */
struct numbered {
    const char *name;
    bool separate; /* the front end wants the number as an argument of its own */
};

static const struct numbered numbered_table[] = {
    {"-ftemplate-depth=", false},
    {"-ftemplate-backtrace-limit=", false},
    {"-fconstexpr-depth=", false},
    {"-fconstexpr-steps=", false},
    {"-fconstexpr-backtrace-limit=", false},
    {"-fbracket-depth=", true},
    {"-ferror-limit=", true},
};

static bool
starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum ha_status
take_number(struct parser *parser, const struct numbered *numbered, const char *value)
{
    size_t digits = strspn(value, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || value[digits] != '\0') {
        return refuse(parser, "the value must be a number of at most 9 digits");
    }
    struct ha_list *front = &parser->result->front;
    if (numbered->separate) {
        ha_list_format(front, "%.*s", (int)strlen(numbered->name) - 1, numbered->name);
        ha_list_add(front, value);
    } else {
        ha_list_format(front, "%s%s", numbered->name, value);
    }
    return HA_OK;
}

static enum ha_status
take_level(struct parser *parser, const char *value)
{
    static const struct {
        const char *value;
        unsigned level;
    } levels[] = {
        {"0", 0}, {"1", 1}, {"", 1},  {"g", 1},    {"2", 2},
        {"s", 2}, {"z", 2}, {"3", 3}, {"fast", 3},
    };
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(value, levels[i].value) != 0) {
            continue;
        }
        parser->result->level = levels[i].level;
        if (strcmp(value, "fast") == 0) {
            parser->math = MATH_FAST;
        }
        return HA_OK;
    }
    return refuse(parser, "the level must be 0, 1, 2, 3, s, z, g or fast");
}

/* Warnings have names of letters, digits and a few marks.  A comma would hand text to
 * the preprocessor, assembler or linker (-Wp, -Wa, -Wl). */
static enum ha_status
take_warning(struct parser *parser, const char *name)
{
    size_t size = strspn(
        name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+=_");
    if (name[size] != '\0') {
        return refuse(parser, "not a warning");
    }
    ha_list_format(&parser->result->front, "-W%s", name);
    return HA_OK;
}

static enum ha_status
take_valued(struct parser *parser, const struct valued *valued, const char *rest)
{
    if (rest[0] != '\0' || (valued->shape & SEPARATE) == 0) {
        /* "-I /dir" in one string is common in programs that build one command line. */
        rest += strspn(rest, " ");
        if (rest[0] == '\0') {
            return refuse(parser, "a value is missing");
        }
        return valued->take(parser, rest);
    }
    if (parser->at + 1 >= parser->count || parser->options[parser->at + 1][0] == '\0') {
        return refuse(parser, "a value is missing");
    }
    enum ha_status status = valued->take(parser, parser->options[parser->at + 1]);
    parser->at++;
    return status;
}

static enum ha_status
parse_one(struct parser *parser)
{
    const char *option = parser->options[parser->at];
    if (option[0] == '\0') {
        return HA_OK;
    }
    for (size_t i = 0; i < sizeof exact_table / sizeof exact_table[0]; i++) {
        if (strcmp(option, exact_table[i].name) == 0) {
            return apply(parser, &exact_table[i]);
        }
    }
    for (size_t i = 0; i < sizeof valued_table / sizeof valued_table[0]; i++) {
        const struct valued *valued = &valued_table[i];
        size_t size = strlen(valued->name);
        if (strncmp(option, valued->name, size) != 0) {
            continue;
        }
        if (option[size] == '\0' || (valued->shape & JOINED) != 0) {
            return take_valued(parser, valued, option + size);
        }
    }
    for (size_t i = 0; i < sizeof numbered_table / sizeof numbered_table[0]; i++) {
        if (starts_with(option, numbered_table[i].name)) {
            return take_number(parser, &numbered_table[i],
                               option + strlen(numbered_table[i].name));
        }
    }
    if (starts_with(option, "-O")) {
        return take_level(parser, option + 2);
    }
    if (starts_with(option, "-W")) {
        return take_warning(parser, option + 2);
    }
    return refuse(parser, "not an option of the CPU device's compiler");
}

/* What the options say together. */
static void
finish(struct parser *parser)
{
    static const struct {
        unsigned math;
        const char *flag;
    } flags[] = {
        {MATH_NO_NANS, "-menable-no-nans"},
        {MATH_NO_INFS, "-menable-no-infs"},
        {MATH_NO_SIGNED_ZEROS, "-fno-signed-zeros"},
        {MATH_REASSOCIATE, "-mreassociate"},
        {MATH_RECIPROCAL, "-freciprocal-math"},
        {MATH_APPROXIMATE, "-fapprox-func"},
        {MATH_UNSAFE, "-funsafe-math-optimizations"},
        {MATH_FINITE, "-ffinite-math-only"},
        {MATH_FAST, "-ffast-math"},
    };
    struct ha_list *front = &parser->result->front;
    if (parser->result->relocatable) {
        ha_list_add(front, "-fgpu-rdc");
    }
    ha_list_format(front, "-std=%s",
                   parser->standard != NULL ? parser->standard : "gnu++17");
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if ((parser->math & flags[i].math) == flags[i].math) {
            ha_list_add(front, flags[i].flag);
        }
    }
    /* HIP fuses multiply and add across statements unless a pragma or the program says
     * otherwise. */
    ha_list_format(front, "-ffp-contract=%s",
                   parser->contract != NULL ? parser->contract : "fast-honor-pragmas");
}

enum ha_status
ha_options_parse(const char *const *options, uint32_t count,
                 const struct ha_options_context *context, struct ha_options *result)
{
    *result = (struct ha_options){.level = LEVEL_DEFAULT};
    struct parser parser = {
        .options = options, .count = count, .context = context, .result = result};
    for (uint32_t i = 0; i < count; i++) {
        if (options[i] == NULL) {
            return ha_error_set(HA_ERROR_INVALID, "hiprtc option %u is NULL", i);
        }
    }
    for (parser.at = 0; parser.at < count; parser.at++) {
        enum ha_status status = parse_one(&parser);
        if (status != HA_OK) {
            return status;
        }
    }
    finish(&parser);
    if (result->front.failed || result->search.failed || result->dirs.failed ||
        result->includes.failed || result->macros.failed || result->notes.failed) {
        return ha_error_set(HA_ERROR_MEMORY, "hiprtc options: no memory");
    }
    return HA_OK;
}

void
ha_options_release(struct ha_options *options)
{
    ha_list_release(&options->front);
    ha_list_release(&options->search);
    ha_list_release(&options->dirs);
    ha_list_release(&options->includes);
    ha_buffer_release(&options->macros);
    ha_buffer_release(&options->notes);
}
