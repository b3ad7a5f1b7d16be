"""A mix ready to score from Python: in a notebook, in a test, in a script.

Invariant: the rewards are those of the console, the command line and the service, because all call the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rewards_lib.contract import Json, JsonObject, MixResult, Payload
from rewards_lib.errors import InputError
from rewards_lib.executor import Executor
from rewards_lib.function_sources import function_alone, read_function, resolver
from rewards_lib.mix import Mix, read_mix
from rewards_lib.payloads import decode, read_payload
from rewards_lib.publishing import find_published, open_version
from rewards_lib.scoring import FunctionResolver, score_payload
from rewards_lib.store import Store
from rewards_lib.strict_json import read_text


class LoadedMix:
    """A mix with its functions and its workers. Close it, or use it as a context manager; workers end with Python."""

    def __init__(self, mix: Mix, resolve: FunctionResolver, *, label: str, executor: Executor | None = None) -> None:
        self.mix = mix
        self.label = label
        """The published version, ``math@2``, or the file that was read."""
        self._resolve = resolve
        self._owns_executor = executor is None
        self._executor = executor or Executor()

    def score(
        self,
        payload: Payload | JsonObject | str | bytes | None = None,
        *,
        completions: Sequence[Json] | None = None,
        answer: Json = None,
        sample: JsonObject | None = None,
        context: JsonObject | None = None,
    ) -> MixResult:
        r"""Score the completions of one sample: one reward each, in order, None where there is none.

        Give either a payload, in any form that the service takes (Ark envelope, bare, dataset row; a dictionary or its
        JSON text), or the completions, each in any accepted shape, with ``answer`` (short for a sample with nothing but
        ``extra["answer"]``) or a whole ``sample``. A function's faults are values of the result. Raises InputError for
        a payload that cannot be read.

        >>> from rewards_lib import load_mix
        >>> with load_mix("math") as mix:                                                     # doctest: +SKIP
        ...     mix.score(completions=[r"so \boxed{0.5}"], answer="1/2").rewards
        (0.35,)
        """
        if payload is None:
            if completions is None:
                raise InputError("There is nothing to score.", remedy="Give a payload, or completions.")
            if sample is None:
                sample = {"messages": [], "extra": {} if answer is None else {"answer": answer}}
            payload = {"context": context or {}, "sample": sample, "completions": list(completions)}
        read = payload if isinstance(payload, Payload) else _read(payload)
        return score_payload(self.mix, read, executor=self._executor, resolve=self._resolve)

    def close(self) -> None:
        """End the workers; the mix cannot score after that."""
        if self._owns_executor:
            self._executor.close()

    def __enter__(self) -> LoadedMix:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        rules = ", ".join(f"{rule.name} × {rule.weight}" for rule in self.mix.rules)
        return f"<mix {self.label}: {rules}>"


def load_mix(what: str | Path, *, store: Store | None = None, executor: Executor | None = None) -> LoadedMix:
    """Load a published version, a mix file, or a file with one function.

    ``what`` is ``name`` (the newest version that is served), ``name@2``, or the path of a file ending in ``.json`` (a
    mix; its functions are looked for beside it, then in the store) or ``.py``. ``store`` and ``executor`` are for
    callers that have them already. Raises InputError, NotFoundError or WithdrawnError.
    """
    path = Path(what)
    if path.suffix == ".json":
        resolve = resolver(folder=path.parent, store=lambda: store or Store())
        return LoadedMix(read_mix(read_text(path)), resolve, label=path.name, executor=executor)
    if path.suffix == ".py":
        mix, resolve = function_alone(path.stem, read_function(path))
        return LoadedMix(mix, resolve, label=path.name, executor=executor)
    published = open_version(find_published(store or Store(), str(what)))
    return LoadedMix(published.mix, published.resolve, label=published.label, executor=executor)


def _read(payload: Any) -> Payload:
    return read_payload(payload) if isinstance(payload, (str, bytes)) else decode(payload)
