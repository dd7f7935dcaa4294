/* SPDX-License-Identifier: MIT */
/* hiprtc programs: source, headers, name expressions, and what compiling made of them.
 *
 * A program is NEW until it was compiled with success, then READY; it may be compiled
 * again, with other options too, and a failure leaves it as it was but for the log.
 * Name expressions can be added while it is NEW.  Strings that hiprtcGetLoweredName
 * gave stay valid until the program is destroyed, whatever is compiled meanwhile.
 *
 * A hiprtcProgram is a handle (cpu/base/handle.h), so that a destroyed or made-up one
 * is recognised.  Every function takes any number for one and answers
 * HIPRTC_ERROR_INVALID_PROGRAM.  The thread's error text (hipadaptGetErrorText) says
 * what was wrong; `function` stands before it.
 *
 * Locks: each program has one, a leaf.  It is not held while the compiler runs: then
 * the program is *busy* and others wait for its end. */
#ifndef HA_CPU_COMPILE_RTC_H
#define HA_CPU_COMPILE_RTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hiprtc.h"

/* Copies everything. */
hiprtcResult ha_program_create(const char *source, const char *name, int header_count,
                               const char *const *header_texts,
                               const char *const *header_names, hiprtcProgram *program);
hiprtcResult ha_program_destroy(hiprtcProgram *program);
hiprtcResult ha_program_add_name(hiprtcProgram program, const char *expression);
/* For devices with warps of `warp_size` lanes.  *cached says whether nothing had to be
 * compiled, where it succeeds. */
hiprtcResult ha_program_compile(hiprtcProgram program, uint32_t warp_size,
                                int option_count, const char *const *options,
                                bool *cached);
/* The beginning of its name; false, without a text, where it is no program. */
bool ha_program_name(hiprtcProgram program, char *name, size_t bytes);
/* Each gives a size, or copies, or both; NULL where it is not wanted. */
hiprtcResult ha_program_get_log(hiprtcProgram program, char *log, size_t *size);
hiprtcResult ha_program_get_code(hiprtcProgram program, char *code, size_t *size);
/* The same for a program that was compiled with -fgpu-rdc; that one has no code. */
hiprtcResult ha_program_get_bitcode(hiprtcProgram program, char *bitcode, size_t *size);
hiprtcResult ha_program_get_lowered(hiprtcProgram program, const char *expression,
                                    const char **lowered);

/* Sets the calling thread's error text, with `function` before it, and gives `result`.
 */
__attribute__((format(printf, 3, 4))) hiprtcResult ha_rtc_fail(hiprtcResult result,
                                                               const char *function,
                                                               const char *format, ...);

#endif
