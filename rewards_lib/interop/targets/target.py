"""What an export target is: the files that face the trainer, how it is started with them, how they are tried.

Invariant: a target's files use the exported package and the standard library; the trainer itself only where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rewards_lib.publishing import Published


@dataclass(frozen=True, slots=True)
class Target:
    """One trainer."""

    name: str
    """As ``--target`` names it."""
    label: str
    """As people write it."""
    tried_with: str
    """The release whose signatures these are."""
    takes_groups: bool
    """Whether the trainer hands over all completions of a prompt at once."""
    files: Callable[[Published, str], dict[str, str]]
    """The files beside the package, by path, for a version and the name of its package."""
    usage: Callable[[Published], str]
    """How the trainer is started with the folder, in Markdown."""
    smoke: str
    """Python: the body of ``rewards_of(sample, completions)`` that calls the files as the trainer does."""
    unscored: str
    """What the trainer gets for a completion without a reward, in a sentence."""

    @property
    def adapter(self) -> str:
        """The module of the exported package that faces this trainer, as a path within the library."""
        return f"interop/adapters/{self.name.replace('-', '_')}.py"


def headed(published: Published, label: str, code: str) -> str:
    """A file's code with a first line that says what it is."""
    return f'"""The reward {published.label} for {label}; mix {published.mix_version}. README.md says how."""\n\n{code}'
