/* SPDX-License-Identifier: MIT */
#include "adapters/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define NATIVE_ORDER '>'
#else
#define NATIVE_ORDER '<'
#endif

const struct ha_format ha_format_bytes = {.kind = 'u', .order = '|', .size = 1};

struct spelling {
    const char *text;
    char kind;
    signed char size;
};

/* Names and one-letter codes of numpy; sizes are those of LP64. */
static const struct spelling spellings[] = {
    {"?", 'b', 1},
    {"bool", 'b', 1},
    {"bool_", 'b', 1},
    {"bool8", 'b', 1},
    {"b", 'i', 1},
    {"byte", 'i', 1},
    {"int8", 'i', 1},
    {"B", 'u', 1},
    {"ubyte", 'u', 1},
    {"uint8", 'u', 1},
    {"h", 'i', 2},
    {"short", 'i', 2},
    {"int16", 'i', 2},
    {"H", 'u', 2},
    {"ushort", 'u', 2},
    {"uint16", 'u', 2},
    {"i", 'i', 4},
    {"intc", 'i', 4},
    {"int32", 'i', 4},
    {"I", 'u', 4},
    {"uintc", 'u', 4},
    {"uint32", 'u', 4},
    {"l", 'i', sizeof(long)},
    {"long", 'i', sizeof(long)},
    {"int", 'i', 8},
    {"int_", 'i', 8},
    {"int64", 'i', 8},
    {"L", 'u', sizeof(long)},
    {"ulong", 'u', sizeof(long)},
    {"uint", 'u', 8},
    {"uint64", 'u', 8},
    {"q", 'i', 8},
    {"longlong", 'i', 8},
    {"Q", 'u', 8},
    {"ulonglong", 'u', 8},
    {"p", 'i', sizeof(void *)},
    {"n", 'i', sizeof(void *)},
    {"intp", 'i', sizeof(void *)},
    {"int0", 'i', sizeof(void *)},
    {"P", 'u', sizeof(void *)},
    {"N", 'u', sizeof(void *)},
    {"uintp", 'u', sizeof(void *)},
    {"uint0", 'u', sizeof(void *)},
    {"e", 'f', 2},
    {"half", 'f', 2},
    {"float16", 'f', 2},
    {"f", 'f', 4},
    {"single", 'f', 4},
    {"float32", 'f', 4},
    {"d", 'f', 8},
    {"double", 'f', 8},
    {"float", 'f', 8},
    {"float_", 'f', 8},
    {"float64", 'f', 8},
    {"g", 'f', sizeof(long double)},
    {"longdouble", 'f', sizeof(long double)},
    {"longfloat", 'f', sizeof(long double)},
    {"float128", 'f', 16},
    {"F", 'c', 8},
    {"csingle", 'c', 8},
    {"singlecomplex", 'c', 8},
    {"complex64", 'c', 8},
    {"D", 'c', 16},
    {"cdouble", 'c', 16},
    {"complex", 'c', 16},
    {"complex_", 'c', 16},
    {"cfloat", 'c', 16},
    {"complex128", 'c', 16},
    {"G", 'c', 2 * sizeof(long double)},
    {"clongdouble", 'c', 2 * sizeof(long double)},
    {"clongfloat", 'c', 2 * sizeof(long double)},
    {"longcomplex", 'c', 2 * sizeof(long double)},
    {"complex256", 'c', 32},
    {"S", 'S', 0},
    {"bytes", 'S', 0},
    {"bytes_", 'S', 0},
    {"bytes0", 'S', 0},
    {"U", 'U', 0},
    {"str", 'U', 0},
    {"str_", 'U', 0},
    {"str0", 'U', 0},
    {"unicode", 'U', 0},
    {"unicode_", 'U', 0},
    {"V", 'V', 0},
    {"void", 'V', 0},
    {"void0", 'V', 0},
    {"O", 'O', sizeof(void *)},
    {"object", 'O', sizeof(void *)},
    {"object_", 'O', sizeof(void *)},
    {"M", 'M', 8},
    {"m", 'm', 8},
};

static const struct extended {
    const char *text;
    enum ha_extended code;
    signed char size;
} extended_names[] = {
    {"bfloat16", HA_BFLOAT16, 2},
    {"float8_e3m4", HA_FLOAT8_E3M4, 1},
    {"float8_e4m3", HA_FLOAT8_E4M3, 1},
    {"float8_e4m3b11fnuz", HA_FLOAT8_E4M3B11FNUZ, 1},
    {"float8_e4m3fn", HA_FLOAT8_E4M3FN, 1},
    {"float8_e4m3fnuz", HA_FLOAT8_E4M3FNUZ, 1},
    {"float8_e5m2", HA_FLOAT8_E5M2, 1},
    {"float8_e5m2fnuz", HA_FLOAT8_E5M2FNUZ, 1},
    {"float8_e8m0fnu", HA_FLOAT8_E8M0FNU, 1},
};

#define EXTENDED_COUNT (sizeof extended_names / sizeof extended_names[0])

static char
order_of(char order, char kind, ptrdiff_t size)
{
    if (size == 1 || kind == 'S' || kind == 'V' || kind == 'b' || kind == 'O') {
        return '|';
    }
    return order == '>' ? '>' : (order == '=' || order == '|' ? NATIVE_ORDER : '<');
}

/* Copies "[ns]" or "[25us]"; false if it is not closed, empty or too long. */
static bool
parse_unit(const char *text, char unit[HA_FORMAT_UNIT_CHARS])
{
    size_t length = strlen(text);
    unit[0] = '\0';
    if (length == 0) {
        return true;
    }
    if (length < 3 || length >= HA_FORMAT_UNIT_CHARS || text[0] != '[' ||
        text[length - 1] != ']') {
        return false;
    }
    for (size_t i = 1; i + 1 < length; i++) {
        char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
              (c >= 'A' && c <= 'Z'))) {
            return false;
        }
    }
    memcpy(unit, text, length + 1);
    return true;
}

static bool
size_fits_kind(char kind, ptrdiff_t size)
{
    switch (kind) {
    case 'b':
        return size == 1;
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f':
        return size == 2 || size == 4 || size == 8 || size == 10 || size == 12 ||
               size == 16;
    case 'c':
        return size == 4 || size == 8 || size == 16 || size == 20 || size == 24 ||
               size == 32;
    case 'M':
    case 'm':
    case 'O':
        return size == 8;
    default:
        return size >= 0;
    }
}

/* Kind letter and decimal size: "f4", "V16", "M8[ns]". */
static bool
parse_sized(const char *text, char order, struct ha_format *out)
{
    if (text[0] == '\0' || strchr("biufcSUVMmOta", text[0]) == NULL || text[1] < '0' ||
        text[1] > '9') {
        return false;
    }
    const char *end = text + 1;
    long long size = 0;
    for (; *end >= '0' && *end <= '9' && size < (1LL << 41); end++) {
        size = size * 10 + (*end - '0');
    }
    char kind = text[0] == 'a' ? 'S' : text[0];
    if (kind == 't' || size < 0 || size > (1LL << 40)) {
        return false;
    }
    if (kind == 'U') {
        size *= 4;
    }
    if (!size_fits_kind(kind, (ptrdiff_t)size)) {
        return false;
    }
    if (*end != '\0' && kind != 'M' && kind != 'm') {
        return false;
    }
    if (!parse_unit(end, out->unit)) {
        return false;
    }
    out->kind = kind;
    out->size = (ptrdiff_t)size;
    out->order = order_of(order, kind, out->size);
    if (kind == 'V' && order == '<' && size == 2) {
        out->extended = HA_BFLOAT16; /* so ml_dtypes and torch; plain bytes are "|V2" */
    }
    return true;
}

static bool
parse_date(const char *text, char order, struct ha_format *out)
{
    static const char *const names[] = {"datetime64", "timedelta64"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) == 0) {
            out->kind = i == 0 ? 'M' : 'm';
            out->size = 8;
            out->order = order_of(order, out->kind, 8);
            return parse_unit(text + length, out->unit);
        }
    }
    return false;
}

bool
ha_format_is_native(const struct ha_format *format)
{
    return format->order == '|' || format->order == NATIVE_ORDER;
}

bool
ha_format_parse(const char *text, struct ha_format *out)
{
    struct ha_format format = {.kind = 'V', .order = '|'};
    char order = '=';
    if (text[0] != '\0' && strchr("<>=|", text[0]) != NULL) {
        order = *text++;
    }
    bool found = parse_sized(text, order, &format) || parse_date(text, order, &format);
    for (size_t i = 0; !found && i < sizeof spellings / sizeof spellings[0]; i++) {
        if (strcmp(text, spellings[i].text) == 0) {
            format.kind = spellings[i].kind;
            format.size = spellings[i].size;
            format.order = order_of(order, format.kind, format.size);
            format.unit[0] = '\0';
            found = true;
        }
    }
    for (size_t i = 0; !found && i < EXTENDED_COUNT; i++) {
        if (strcmp(text, extended_names[i].text) == 0) {
            format.extended = (unsigned char)extended_names[i].code;
            format.size = extended_names[i].size;
            found = true;
        }
    }
    if (found) {
        *out = format;
    }
    return found;
}

/* Whether a number of this letter can have so many bytes.  What lies is plain bytes:
 * ctypes says "B" of unions. */
static bool
letter_fits(char letter, ptrdiff_t size)
{
    switch (letter) {
    case '?':
    case 'b':
    case 'B':
    case 'c':
        return size == 1;
    case 'e':
    case 'h':
    case 'H':
        return size == 2;
    case 'f':
    case 'i':
    case 'I':
        return size == 4;
    case 'l':
    case 'L':
        return size == 4 || size == (ptrdiff_t)sizeof(long);
    case 'd':
    case 'q':
    case 'Q':
    case 'n':
    case 'N':
    case 'P':
        return size == 8;
    default:
        return true;
    }
}

void
ha_format_from_buffer(const char *text, ptrdiff_t itemsize, struct ha_format *out)
{
    struct ha_format format = {.kind = 'V', .order = '|', .size = itemsize};
    char order = '=';
    if (text == NULL) {
        text = "B";
    }
    if (text[0] != '\0' && strchr("@=<>!", text[0]) != NULL) {
        order = *text == '!' ? '>' : (*text == '@' ? '=' : *text);
        text++;
    }
    char kind = 'V';
    bool complex_number = text[0] == 'Z';
    if (complex_number) {
        text++;
    }
    bool counted = text[0] >= '0' && text[0] <= '9';
    while (*text >= '0' &&
           *text <= '9') { /* "5s": how many characters; itemsize knows */
        text++;
    }
    if (text[0] != '\0' && text[1] == '\0') {
        char c = text[0];
        if (counted && c != 's' && c != 'w') {
            c = 'x';
        }
        if (strchr("bhilqn", c) != NULL) {
            kind = 'i';
        } else if (strchr("BHILQNP", c) != NULL) {
            kind = 'u';
        } else if (strchr("efdg", c) != NULL) {
            kind = complex_number ? 'c' : 'f';
        } else if (c == '?') {
            kind = 'b';
        } else if (c == 'c' || c == 's') {
            kind = 'S';
        } else if (c == 'w') {
            kind = 'U';
        }
    }
    bool is_number = kind != 'S' && kind != 'U';
    if (kind != 'V' && size_fits_kind(kind, itemsize) &&
        (!is_number || letter_fits(*text, complex_number ? itemsize / 2 : itemsize))) {
        format.kind = kind;
        format.order = order_of(order, kind, itemsize);
    }
    *out = format;
}

bool
ha_format_from_dlpack(unsigned code, unsigned bits, unsigned lanes,
                      struct ha_format *out)
{
    /* Codes of DLDataTypeCode; the others have no typestr and become V. */
    static const char kinds[] = {'i', 'u', 'f', 'V', 'V', 'c', 'b'};
    if (bits == 0 || bits % 8 != 0 || lanes == 0) {
        return false;
    }
    ptrdiff_t size = (ptrdiff_t)(bits / 8) * (ptrdiff_t)lanes;
    char kind = code < sizeof kinds && lanes == 1 ? kinds[code] : 'V';
    if (!size_fits_kind(kind, size)) {
        kind = 'V';
    }
    struct ha_format format = {.kind = kind, .size = size};
    format.order = order_of('=', kind, size);
    for (size_t i = 0; lanes == 1 && i < EXTENDED_COUNT; i++) {
        if (code == (unsigned)extended_names[i].code &&
            size == extended_names[i].size) {
            format.extended = (unsigned char)code;
        }
    }
    *out = format;
    return true;
}

bool
ha_format_to_dlpack(const struct ha_format *format, unsigned *code, unsigned *bits)
{
    static const char kinds[] = {'i', 'u', 'f', 0, 0, 'c', 'b'};
    if (format->size <= 0 || format->size > 31 || !ha_format_is_native(format)) {
        return false;
    }
    *bits = 8 * (unsigned)format->size;
    if (format->extended != 0) {
        *code = format->extended;
        return true;
    }
    for (unsigned i = 0; i < sizeof kinds; i++) {
        if (kinds[i] == format->kind) {
            *code = i;
            return format->kind != 'f' || format->size <= 8 || format->size == 16;
        }
    }
    return false;
}

const char *
ha_format_name(const struct ha_format *format)
{
    for (size_t i = 0; i < EXTENDED_COUNT; i++) {
        if (format->extended == (unsigned char)extended_names[i].code) {
            return extended_names[i].text;
        }
    }
    if (!ha_format_is_native(format)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const struct spelling *row = &spellings[i];
        if (row->kind != format->kind || row->size != format->size || row->size == 0) {
            continue; /* before the text is looked at: launches are told by it */
        }
        size_t length = strlen(row->text);
        bool sized =
            row->text[length - 1] >= '0' && row->text[length - 1] <= '9' && length >= 4;
        if ((sized || row->kind == 'b') && length > 1) {
            return row->text;
        }
    }
    return NULL;
}

void
ha_format_typestr(const struct ha_format *format, char text[HA_FORMAT_TEXT_CHARS])
{
    ptrdiff_t size = format->kind == 'U' ? format->size / 4 : format->size;
    char order = format->extended != 0 ? '<' : format->order;
    snprintf(text, HA_FORMAT_TEXT_CHARS, "%c%c%td%.11s", order, format->kind, size,
             format->unit);
}

void
ha_format_buffer(const struct ha_format *format, char text[HA_FORMAT_TEXT_CHARS])
{
    const char *letter = "";
    switch (format->kind) {
    case 'b':
        letter = "?";
        break;
    case 'i':
        letter = format->size == 1   ? "b"
                 : format->size == 2 ? "h"
                 : format->size == 4 ? "i"
                                     : "q";
        break;
    case 'u':
        letter = format->size == 1   ? "B"
                 : format->size == 2 ? "H"
                 : format->size == 4 ? "I"
                                     : "Q";
        break;
    case 'f':
        letter = format->size == 2    ? "e"
                 : format->size == 4  ? "f"
                 : format->size == 8  ? "d"
                 : format->size == 16 ? "g"
                                      : "";
        break;
    case 'c':
        letter = format->size == 8    ? "Zf"
                 : format->size == 16 ? "Zd"
                 : format->size == 32 ? "Zg"
                                      : "";
        break;
    default:
        break;
    }
    const char *order = ha_format_is_native(format) ? "" : ">";
    if (format->kind == 'U') {
        snprintf(text, HA_FORMAT_TEXT_CHARS, "%s%tdw", order, format->size / 4);
    } else if (format->kind == 'S') {
        snprintf(text, HA_FORMAT_TEXT_CHARS, "%tds", format->size);
    } else if (letter[0] == '\0') {
        /* Not "s", which is text: readers cut zeros off its end. */
        snprintf(text, HA_FORMAT_TEXT_CHARS, "%tdx", format->size);
    } else {
        snprintf(text, HA_FORMAT_TEXT_CHARS, "%s%s", order, letter);
    }
}

bool
ha_format_equal(const struct ha_format *left, const struct ha_format *right)
{
    return left->kind == right->kind && left->size == right->size &&
           left->extended == right->extended && left->order == right->order &&
           strcmp(left->unit, right->unit) == 0;
}
