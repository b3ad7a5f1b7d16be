"""A way to say that nobody waits for a judgement any more, so that its runs end at once."""

from __future__ import annotations

import contextlib
import os


class Cancellation:
    """Not cancelled at first; ``cancel`` may be called from any thread. Close it when the judgement is there."""

    def __init__(self) -> None:
        self.descriptor, self._writing = os.pipe()
        """Becomes readable when cancelled."""

    def cancel(self) -> None:
        """End the runs that know this object."""
        with contextlib.suppress(OSError):
            os.write(self._writing, b"x")

    def close(self) -> None:
        """Give the descriptors back."""
        for descriptor in (self.descriptor, self._writing):
            os.close(descriptor)

    def __enter__(self) -> Cancellation:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
