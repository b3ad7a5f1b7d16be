"""Which database holds the drafts and versions: a file of this name in the data directory, unless another is named."""

from __future__ import annotations

DATABASE_VARIABLE = "REWARD_CONSOLE_DATABASE"
FILE_NAME = "reward-console.sqlite3"
