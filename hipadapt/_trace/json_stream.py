# SPDX-License-Identifier: MIT
"""Reads one JSON object piece by piece, so that memory doesn't grow with the file."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from .slices import TraceError

_CHUNK_BYTES = 1 << 18
_VALUE_MAX = 1 << 28  # characters of one value; more is no trace
_SPACE = " \t\r\n"


class Pieces:
    """A position in the text of a file."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._parse = json.JSONDecoder(strict=False).raw_decode

    def _more(self) -> bool:
        """Whether there was more."""
        if self._ended:
            return False
        # A value that is longer than a chunk is not parsed again for each chunk.
        size = max(_CHUNK_BYTES, len(self._text) - self._at)
        if size > _VALUE_MAX:
            raise self.error("has a value that is too long")
        data = self._file.read(size)
        self._ended = not data
        self._text = self._text[self._at :] + self._decode(data, not data)
        self._at = 0
        return not self._ended

    def error(self, what: str) -> TraceError:
        """With the file's name."""
        return TraceError(f"{self._name}: {what}")

    def peek(self) -> str:
        """The next character that is no space; "" at the end."""
        while True:
            text, at = self._text, self._at
            while at < len(text) and text[at] in _SPACE:
                at += 1
            self._at = at
            if at < len(text):
                return text[at]
            if not self._more():
                return ""

    def take(self, wanted: str) -> bool:
        """Whether this character is next; then it is passed."""
        if self.peek() != wanted:
            return False
        self._at += 1
        return True

    def value(self) -> Any:
        """The next value; EOFError where the file ends within it."""
        self.peek()
        while True:
            begun = self._at
            try:
                found, end = self._parse(self._text, begun)
            except json.JSONDecodeError as error:
                if self._more():
                    continue
                if not self._text or _is_cut(error, self._text, begun):
                    raise EOFError from None
                raise self.error(f"is no JSON: {error}") from None
            except RecursionError:
                raise self.error("is no trace: too many brackets") from None
            # A number at the end of a chunk may have more digits.
            if end < len(self._text) or not self._more():
                self._at = end
                return found

    def elements(self) -> Iterator[Any]:
        """Of an array, whose bracket is next; EOFError as above."""
        if not self.take("["):
            raise self.error("is no trace: 'traceEvents' is no array")
        if self.take("]"):
            return
        while True:
            yield self.value()
            if self.take("]"):
                return
            if not self.take(","):
                if not self.peek():
                    raise EOFError
                raise self.error("is no JSON: a comma is missing between events")
            if not self.peek():
                raise EOFError


def _is_cut(error: json.JSONDecodeError, text: str, begun: int) -> bool:
    """Whether the value that begins the text stops where the text does.

    Otherwise it is wrong.  The error's place counts from `begun` before.  A word such
    as "false" is said to be wrong where it begins.
    """
    longest_word = len("Infinity")
    at = error.pos - begun
    return "Unterminated string" in error.msg or at >= len(text) - longest_word
