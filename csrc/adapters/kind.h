/* SPDX-License-Identifier: MIT */
/* Kinds of C values: what arguments, elements of lists and members of records are. */
#ifndef HA_ADAPTERS_KIND_H
#define HA_ADAPTERS_KIND_H

enum ha_kind {
    HA_BOOL, /* C bool, one byte */
    HA_CHAR, /* text byte: arrays of it are str; alone an int */
    HA_I8,
    HA_U8,
    HA_I16,
    HA_U16,
    HA_I32, /* int */
    HA_U32, /* unsigned */
    HA_I64,
    HA_U64,
    HA_LONG,  /* long, same bytes as HA_I64 on LP64 but named "long" in messages */
    HA_ULONG, /* unsigned long */
    HA_SIZE,  /* size_t */
    HA_F32,
    HA_F64,
    HA_POINTER,  /* void * and any pointer without a type of its own */
    HA_CSTR,     /* const char * */
    HA_ENUM,     /* int; index = enum of the API tables */
    HA_HANDLE,   /* opaque pointer; index = handle of the API tables */
    HA_FUNCTION, /* function pointer; index = function type of the API tables */
    HA_RECORD,   /* nested record; index = record of the API tables */
    HA_KIND_COUNT
};

#endif
