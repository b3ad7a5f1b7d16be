"""Where the user's data live: drafts, versions, installed requirements.

Invariant: asking never creates anything; ``REWARD_CONSOLE_HOME`` wins over every convention of the system.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rewards_lib.errors import DependencyError

HOME_VARIABLE = "REWARD_CONSOLE_HOME"


def data_directory() -> Path:
    """The console's folder: ``REWARD_CONSOLE_HOME``, else the system's place for a user's data.

    A relative ``XDG_DATA_HOME`` is ignored, as its specification asks (freedesktop.org, basedir-spec).
    Raises DependencyError where the user has no home directory.
    """
    own = os.environ.get(HOME_VARIABLE)
    try:
        if own:
            return Path(own).expanduser().absolute()
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "reward-console"
        base = Path(os.environ.get("XDG_DATA_HOME", ""))
        return (base if base.is_absolute() else Path.home() / ".local" / "share") / "reward-console"
    except RuntimeError:
        raise DependencyError(
            "No home directory is known.", remedy="Name a folder in {home}.", home=HOME_VARIABLE
        ) from None
