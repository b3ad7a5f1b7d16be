"""From what an author wrote to a version that never changes, and from a version to what scores.

Invariant: a published mix carries the source of its functions, so that no later edit of a function changes its rewards.
"""

from rewards_lib.publishing.differences import Change, changes_between
from rewards_lib.publishing.freezing import (
    freeze_mix,
    function_content,
    mix_file_of,
    pinned_functions,
    publish_function,
    publish_mix,
)
from rewards_lib.publishing.published import Published, find_published, open_content, open_version, published_names
from rewards_lib.publishing.restoring import Restored, draft_content, restore

__all__ = [
    "Change", "Published", "Restored", "changes_between", "draft_content", "find_published", "freeze_mix",
    "function_content", "mix_file_of", "open_content", "open_version", "pinned_functions", "publish_function",
    "publish_mix", "published_names", "restore",
]  # fmt: skip
