# SPDX-License-Identifier: MIT
"""Types of C callbacks, for callables that are called at once.

`ctypes` makes the C functions.  Handles are ints, and so are the values of
`rocprofiler_user_data_t`.  What a callable raises goes to `sys.unraisablehook`, and C
gets 0.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)


class rocprofiler_correlation_id_t(Structure):
    """Identifiers of a call."""

    _fields_ = (
        ("internal", c_uint64),
        ("external", c_uint64),
        ("ancestor", c_uint64),
    )


class rocprofiler_async_correlation_id_t(Structure):
    """Identifiers of work that a call caused."""

    _fields_ = (("internal", c_uint64), ("external", c_uint64))


class rocprofiler_callback_tracing_record_t(Structure):
    """What a callback gets; `payload` is valid until the callback returns."""

    _fields_ = (
        ("context_id", c_uint64),
        ("thread_id", c_uint64),
        ("correlation_id", rocprofiler_correlation_id_t),
        ("kind", c_int),
        ("operation", c_int32),
        ("phase", c_int),
        ("payload", c_void_p),
    )


class rocprofiler_record_header_t(Structure):
    """A record in a buffer."""

    _fields_ = (("category", c_uint32), ("kind", c_uint32), ("payload", c_void_p))


class rocprofiler_dim3_t(Structure):
    """Three sizes."""

    _fields_ = (("x", c_uint32), ("y", c_uint32), ("z", c_uint32))


class rocprofiler_kernel_dispatch_info_t(Structure):
    """A launch of a kernel."""

    _fields_ = (
        ("size", c_uint64),
        ("agent_id", c_uint64),
        ("queue_id", c_uint64),
        ("kernel_id", c_uint64),
        ("dispatch_id", c_uint64),
        ("private_segment_size", c_uint32),
        ("group_segment_size", c_uint32),
        ("workgroup_size", rocprofiler_dim3_t),
        ("grid_size", rocprofiler_dim3_t),
        ("reserved_padding", c_uint8 * 56),
    )


class rocprofiler_dispatch_counting_service_data_t(Structure):
    """A launch that is or was counted."""

    _fields_ = (
        ("size", c_uint64),
        ("correlation_id", rocprofiler_async_correlation_id_t),
        ("start_timestamp", c_uint64),
        ("end_timestamp", c_uint64),
        ("dispatch_info", rocprofiler_kernel_dispatch_info_t),
    )


class rocprofiler_counter_record_t(Structure):
    """The value of a counter."""

    _fields_ = (
        ("id", c_uint64),
        ("counter_value", c_double),
        ("dispatch_id", c_uint64),
        ("user_data", c_uint64),
        ("agent_id", c_uint64),
    )


_user_data = POINTER(c_uint64)

rocprofiler_callback_tracing_cb_t = CFUNCTYPE(
    None, rocprofiler_callback_tracing_record_t, _user_data, c_void_p
)
rocprofiler_buffer_tracing_cb_t = CFUNCTYPE(
    None,
    c_uint64,  # context
    c_uint64,  # buffer
    POINTER(POINTER(rocprofiler_record_header_t)),
    c_size_t,
    c_void_p,
    c_uint64,  # records that found no room
)
rocprofiler_callback_tracing_operation_args_cb_t = CFUNCTYPE(
    c_int,
    c_int,  # kind
    c_int32,  # operation
    c_uint32,  # number of the argument
    c_void_p,  # its address
    c_int32,  # pointers that lead to the value
    c_char_p,  # type
    c_char_p,  # name
    c_char_p,  # value
    c_int32,  # pointers that were followed
    c_void_p,
)
rocprofiler_buffer_tracing_operation_args_cb_t = CFUNCTYPE(
    c_int,
    c_int,
    c_int32,
    c_uint32,
    c_void_p,
    c_int32,
    c_char_p,
    c_char_p,
    c_char_p,
    c_void_p,
)
rocprofiler_external_correlation_id_request_cb_t = CFUNCTYPE(
    c_int,
    c_uint64,  # thread
    c_uint64,  # context
    c_int,  # kind
    c_int32,  # operation
    c_uint64,  # internal identifier
    _user_data,  # to be set
    c_void_p,
)
rocprofiler_intercept_library_cb_t = CFUNCTYPE(
    None,
    c_int,  # table
    c_uint64,  # version of the library
    c_uint64,  # its number
    POINTER(c_void_p),  # tables
    c_uint64,  # number of tables
    c_void_p,
)
rocprofiler_internal_thread_library_cb_t = CFUNCTYPE(None, c_int, c_void_p)
rocprofiler_device_counting_agent_cb_t = CFUNCTYPE(c_int, c_uint64, c_uint64)
rocprofiler_device_counting_service_cb_t = CFUNCTYPE(
    None,
    c_uint64,  # context
    c_uint64,  # agent
    rocprofiler_device_counting_agent_cb_t,  # sets the counters
    c_void_p,
)
rocprofiler_dispatch_counting_service_cb_t = CFUNCTYPE(
    None,
    rocprofiler_dispatch_counting_service_data_t,
    POINTER(c_uint64),  # set of counters, to be set
    _user_data,
    c_void_p,
)
rocprofiler_dispatch_counting_record_cb_t = CFUNCTYPE(
    None,
    rocprofiler_dispatch_counting_service_data_t,
    POINTER(rocprofiler_counter_record_t),
    c_size_t,
    c_uint64,
    c_void_p,
)
