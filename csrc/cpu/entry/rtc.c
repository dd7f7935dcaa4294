/* SPDX-License-Identifier: MIT */
/* The hiprtc C ABI on the CPU device.  No device is started: programs compile on a
 * machine as they do without a GPU. */
#include "abi/hiprtc.h"

#include <stdbool.h>
#include <stddef.h>

#include "abi/hip.h"
#include "cpu/base/export.h"
#include "cpu/compile/rtc.h"
#include "cpu/entry/runtime.h"
#include "cpu/module/register.h"
#include "cpu/queue/mark.h"

enum { PROGRAM_NAME_BYTES = 256 };

/* Fails for an argument that must not be NULL. */
static hiprtcResult
need(const char *function, const char *argument, const void *pointer)
{
    return pointer != NULL ? HIPRTC_SUCCESS
                           : ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                                         "argument '%s' is NULL", argument);
}

HA_EXPORT const char *
hiprtcGetErrorString(hiprtcResult result)
{
    switch (result) {
    case HIPRTC_SUCCESS:
        return "HIPRTC_SUCCESS";
    case HIPRTC_ERROR_OUT_OF_MEMORY:
        return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case HIPRTC_ERROR_PROGRAM_CREATION_FAILURE:
        return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case HIPRTC_ERROR_INVALID_INPUT:
        return "HIPRTC_ERROR_INVALID_INPUT";
    case HIPRTC_ERROR_INVALID_PROGRAM:
        return "HIPRTC_ERROR_INVALID_PROGRAM";
    case HIPRTC_ERROR_INVALID_OPTION:
        return "HIPRTC_ERROR_INVALID_OPTION";
    case HIPRTC_ERROR_COMPILATION:
        return "HIPRTC_ERROR_COMPILATION";
    case HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE:
        return "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION:
        return "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION:
        return "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID:
        return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case HIPRTC_ERROR_INTERNAL_ERROR:
        return "HIPRTC_ERROR_INTERNAL_ERROR";
    case HIPRTC_ERROR_LINKING:
        return "HIPRTC_ERROR_LINKING";
    }
    return "Invalid HIPRTC error code";
}

HA_EXPORT hiprtcResult
hiprtcVersion(int *major, int *minor)
{
    hiprtcResult result = need("hiprtcVersion", "major", major);
    if (result == HIPRTC_SUCCESS) {
        result = need("hiprtcVersion", "minor", minor);
    }
    if (result != HIPRTC_SUCCESS) {
        return result;
    }
    *major = HIP_VERSION_MAJOR;
    *minor = HIP_VERSION_MINOR;
    return HIPRTC_SUCCESS;
}

HA_EXPORT hiprtcResult
hiprtcCreateProgram(hiprtcProgram *prog, const char *src, const char *name,
                    int numHeaders, const char *const *headers,
                    const char *const *includeNames)
{
    return ha_program_create(src, name, numHeaders, headers, includeNames, prog);
}

HA_EXPORT hiprtcResult
hiprtcDestroyProgram(hiprtcProgram *prog)
{
    return ha_program_destroy(prog);
}

HA_EXPORT hiprtcResult
hiprtcAddNameExpression(hiprtcProgram prog, const char *name_expression)
{
    return ha_program_add_name(prog, name_expression);
}

HA_EXPORT hiprtcResult
hiprtcCompileProgram(hiprtcProgram prog, int numOptions, const char *const *options)
{
    char name[PROGRAM_NAME_BYTES];
    bool marked = ha_mark_wanted() && ha_program_name(prog, name, sizeof name) &&
                  ha_mark_begin("hiprtcCompileProgram", name);
    bool cached = false;
    hiprtcResult result =
        ha_program_compile(prog, ha_warp_size(), numOptions, options, &cached);

    if (marked) {
        ha_mark_end("hiprtcCompileProgram", name,
                    result != HIPRTC_SUCCESS ? "failed"
                    : cached                 ? "cached"
                                             : "compiled");
    }
    return result;
}

HA_EXPORT hiprtcResult
hiprtcGetLoweredName(hiprtcProgram prog, const char *name_expression,
                     const char **lowered_name)
{
    return ha_program_get_lowered(prog, name_expression, lowered_name);
}

HA_EXPORT hiprtcResult
hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSizeRet)
{
    hiprtcResult result = need("hiprtcGetProgramLogSize", "logSizeRet", logSizeRet);
    return result == HIPRTC_SUCCESS ? ha_program_get_log(prog, NULL, logSizeRet)
                                    : result;
}

HA_EXPORT hiprtcResult
hiprtcGetProgramLog(hiprtcProgram prog, char *log)
{
    hiprtcResult result = need("hiprtcGetProgramLog", "log", log);
    return result == HIPRTC_SUCCESS ? ha_program_get_log(prog, log, NULL) : result;
}

HA_EXPORT hiprtcResult
hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSizeRet)
{
    hiprtcResult result = need("hiprtcGetCodeSize", "codeSizeRet", codeSizeRet);
    return result == HIPRTC_SUCCESS ? ha_program_get_code(prog, NULL, codeSizeRet)
                                    : result;
}

HA_EXPORT hiprtcResult
hiprtcGetCode(hiprtcProgram prog, char *code)
{
    hiprtcResult result = need("hiprtcGetCode", "code", code);
    return result == HIPRTC_SUCCESS ? ha_program_get_code(prog, code, NULL) : result;
}

HA_EXPORT hiprtcResult
hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *bitcode_size)
{
    hiprtcResult result = need("hiprtcGetBitcodeSize", "bitcode_size", bitcode_size);
    return result == HIPRTC_SUCCESS ? ha_program_get_bitcode(prog, NULL, bitcode_size)
                                    : result;
}

HA_EXPORT hiprtcResult
hiprtcGetBitcode(hiprtcProgram prog, char *bitcode)
{
    hiprtcResult result = need("hiprtcGetBitcode", "bitcode", bitcode);
    return result == HIPRTC_SUCCESS ? ha_program_get_bitcode(prog, bitcode, NULL)
                                    : result;
}
