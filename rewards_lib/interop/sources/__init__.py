"""Where a reward function can come from, one trainer a file: how its functions look, and what makes them ours."""

from rewards_lib.interop.sources import ark, openrlhf, trl, verl
from rewards_lib.interop.sources.source import Adapted, Found, Source

SOURCES: dict[str, Source] = {module.SOURCE.name: module.SOURCE for module in (ark, verl, openrlhf, trl)}
"""By name, in the order in which a file is recognised: the plainest signature last."""

__all__ = ["SOURCES", "Adapted", "Found", "Source"]
