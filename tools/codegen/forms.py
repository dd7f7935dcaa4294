# SPDX-License-Identifier: MIT
"""Parameter lists that Python accepts for a function, and what each of them returns.

A *form* is one such list; the first is the usual one.  *Slots* are the parameters that
any form takes: those of the usual form first, then the others in C order.
"""

from __future__ import annotations

from .model import Function, Param

FORM_OUTPUTS = ("out_record", "out_text")
# Outputs that are in no usual form.
OUTPUTS = ("out", "out_array", "out_list", *FORM_OUTPUTS)


def form_params(function: Function) -> list[list[Param]]:
    """Parameter lists that Python accepts."""
    forms = [[p for p in function.params if p.role not in OUTPUTS]]
    if any(p.role in FORM_OUTPUTS for p in function.params):
        hidden = ("out", "out_array", "out_list")
        forms.append([p for p in function.params if p.role not in hidden])
    named = {p.python_name: p for p in function.params}
    for names in function.forms:
        form = [named[name] for name in names]
        if form not in forms:
            forms.append(form)
    return forms


def form_results(function: Function, form: int) -> list[Param]:
    """Parameters that the result of a form has values for, in C order.

    These are the ones that the form does not take: outputs, and inputs left out, whose
    value is None; besides, numbers that the call changes.
    """
    taken = form_params(function)[form]
    return [p for p in function.params if p not in taken or p.role == "inout"]


def slots(function: Function) -> list[Param]:
    """All parameters that some form takes, in the order in which wrappers have them."""
    forms = form_params(function)
    usual = forms[0]
    others = [
        p
        for p in function.params
        if p not in usual and any(p in form for form in forms)
    ]
    return [*usual, *others]


def left_out(function: Function) -> list[Param]:
    """Parameters that are in the result of some form, in C order."""
    forms = range(len(form_params(function)))
    results = [form_results(function, form) for form in forms]
    return [p for p in function.params if any(p in result for result in results)]


def status_type(function: Function) -> str | None:
    """The enum that the C function returns as its status, if it does."""
    return (
        function.returns if function.returns in ("hipError_t", "hiprtcResult") else None
    )
