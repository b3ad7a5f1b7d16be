"""What holds for every test: on a busy machine a slow example is no failure; what takes longest begins first."""

import pytest
from hypothesis import HealthCheck, settings

JOURNEYS = "tests/e2e/"
LONGEST_FIRST = (
    JOURNEYS,
    "tests/pages/",
    "tests/rewards_lib/executor/",
    "tests/rewards_lib/code_judge/",
    "tests/rewards_lib/rollouts/",
    "tests/rewards_lib/serving/",
)

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_collection_modifyitems(items):
    """Put the folders that take minutes before those that take seconds, so that no worker ends long after another."""
    items.sort(
        key=lambda item: next(
            (n for n, folder in enumerate(LONGEST_FIRST) if item.nodeid.startswith(folder)), len(LONGEST_FIRST)
        )
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deal whole files, and the journeys as if they were one: a second console and browser cost more than they help."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class OneConsole(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return JOURNEYS if nodeid.startswith(JOURNEYS) else super()._split_scope(nodeid)

    return OneConsole(config, log)
