/* SPDX-License-Identifier: MIT */
/* Names of statuses, version, clock and thread. */
#include "rocprofiler/sdk.h"
#include "rocprofiler/stamp.h"

#define STATUS(name, text)                                                             \
    [ROCPROFILER_STATUS_##name] = {"ROCPROFILER_STATUS_" #name, text}

static const struct {
    const char *name;
    const char *text;
} statuses[ROCPROFILER_STATUS_LAST] = {
    STATUS(SUCCESS, "Success"),
    STATUS(ERROR, "Error without a closer description"),
    STATUS(ERROR_CONTEXT_NOT_FOUND, "There is no such context"),
    STATUS(ERROR_BUFFER_NOT_FOUND, "There is no such buffer"),
    STATUS(ERROR_KIND_NOT_FOUND, "There is no such kind"),
    STATUS(ERROR_OPERATION_NOT_FOUND, "The kind has no such operation"),
    STATUS(ERROR_THREAD_NOT_FOUND, "There is no such callback thread"),
    STATUS(ERROR_AGENT_NOT_FOUND, "There is no such agent"),
    STATUS(ERROR_COUNTER_NOT_FOUND, "There is no such counter"),
    STATUS(ERROR_CONTEXT_ERROR, "The context is in error"),
    STATUS(ERROR_CONTEXT_INVALID, "The context's services don't go together"),
    STATUS(ERROR_CONTEXT_NOT_STARTED, "The context could not be started"),
    STATUS(ERROR_CONTEXT_CONFLICT, "Another context is in the way"),
    STATUS(ERROR_CONTEXT_ID_NOT_ZERO, "The context's identifier is set already"),
    STATUS(ERROR_BUFFER_BUSY, "The buffer is giving a batch"),
    STATUS(ERROR_SERVICE_ALREADY_CONFIGURED, "The context has this service already"),
    STATUS(ERROR_CONFIGURATION_LOCKED, "Allowed only while tools are being configured"),
    STATUS(ERROR_NOT_IMPLEMENTED, "Not implemented"),
    STATUS(ERROR_INCOMPATIBLE_ABI, "The structure has a size that isn't known"),
    STATUS(ERROR_INVALID_ARGUMENT, "An argument is invalid"),
    STATUS(ERROR_METRIC_NOT_VALID_FOR_AGENT, "The agent doesn't have this counter"),
    STATUS(ERROR_FINALIZED, "The library is finalized"),
    STATUS(ERROR_HSA_NOT_LOADED, "HSA isn't loaded"),
    STATUS(ERROR_DIM_NOT_FOUND, "The counter has no such dimension"),
    STATUS(ERROR_PROFILE_COUNTER_NOT_FOUND, "The agent has no counter of the set"),
    STATUS(ERROR_AST_GENERATION_FAILED, "The counter's expression is wrong"),
    STATUS(ERROR_AST_NOT_FOUND, "The counter has no expression"),
    STATUS(ERROR_AQL_NO_EVENT_COORD, "The event has no place on the agent"),
    STATUS(ERROR_INCOMPATIBLE_KERNEL, "The kernel driver is too old"),
    STATUS(ERROR_OUT_OF_RESOURCES, "No memory, or too many of a kind"),
    STATUS(ERROR_PROFILE_NOT_FOUND, "There is no such set of counters"),
    STATUS(ERROR_AGENT_DISPATCH_CONFLICT,
           "A context can't count launches and devices at once"),
    STATUS(INTERNAL_NO_AGENT_CONTEXT, "No context counts this agent"),
    STATUS(ERROR_SAMPLE_RATE_EXCEEDED, "Samples are asked for too often"),
    STATUS(ERROR_NO_PROFILE_QUEUE, "There is no queue for the counters"),
    STATUS(ERROR_NO_HARDWARE_COUNTERS, "There are no such counters"),
    STATUS(ERROR_AGENT_MISMATCH, "The set is of another agent"),
    STATUS(ERROR_NOT_AVAILABLE, "The service isn't available"),
    STATUS(ERROR_EXCEEDS_HW_LIMIT, "More than can be counted at once"),
    STATUS(ERROR_AGENT_ARCH_NOT_SUPPORTED, "Not on agents of this kind"),
    STATUS(ERROR_PERMISSION_DENIED, "Permission denied"),
    STATUS(ERROR_INCOMPATIBLE_REGISTER_VERSION,
           "rocprofiler-register is of another version"),
};

HA_SDK_EXPORT const char *
rocprofiler_get_status_name(rocprofiler_status_t status)
{
    return (unsigned)status < ROCPROFILER_STATUS_LAST ? statuses[status].name : NULL;
}

HA_SDK_EXPORT const char *
rocprofiler_get_status_string(rocprofiler_status_t status)
{
    return (unsigned)status < ROCPROFILER_STATUS_LAST ? statuses[status].text : NULL;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
    if (major != NULL) {
        *major = ROCPROFILER_SDK_VERSION_MAJOR;
    }
    if (minor != NULL) {
        *minor = ROCPROFILER_SDK_VERSION_MINOR;
    }
    if (patch != NULL) {
        *patch = ROCPROFILER_SDK_VERSION_PATCH;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_get_version_triplet(rocprofiler_version_triplet_t *info)
{
    return rocprofiler_get_version(&info->major, &info->minor, &info->patch);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts)
{
    *ts = ha_timestamp();
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_get_thread_id(rocprofiler_thread_id_t *tid)
{
    *tid = ha_thread_id();
    return ROCPROFILER_STATUS_SUCCESS;
}
