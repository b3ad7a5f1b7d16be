"""Stores to test against: every kind of URL that the contract promises."""

import itertools
import os
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete

from rewards_lib.store import Store
from rewards_lib.store.schema import METADATA

START = datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def clock():
    """A clock that goes on by one second at each look."""
    ticks = itertools.count()
    return lambda: START + timedelta(seconds=next(ticks))


URLS = {"file": "sqlite:///{folder}/store.sqlite3", "memory": "sqlite://"}
if "REWARD_CONSOLE_TEST_DATABASE" in os.environ:  # an empty database on a server, e.g. postgresql+psycopg://...
    URLS["server"] = os.environ["REWARD_CONSOLE_TEST_DATABASE"]


@pytest.fixture(params=URLS)
def store(request, tmp_path, clock):
    opened = Store(URLS[request.param].format(folder=tmp_path), now=clock)
    yield opened
    if request.param == "server":
        opened._database.write(lambda connection: [connection.execute(delete(t)) for t in METADATA.sorted_tables])
    opened.close()
