"""Waiting for descriptors."""

from __future__ import annotations

import selectors
from collections.abc import Sequence


def readable(descriptors: Sequence[int], seconds: float | None) -> set[int]:
    """Those that can be read, after waiting for the first; empty when the time is over.

    A selector, because ``select`` refuses descriptors from 1024 on, which a busy service has.
    """
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        return {key.fd for key, _ in selector.select(seconds)}
