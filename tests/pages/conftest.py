"""Pages are tested through app.py, as they are run; every test gets a data folder of its own."""

import functools
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app.py"


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    monkeypatch.delenv("REWARD_CONSOLE_DATABASE", raising=False)
    from components import cache

    cache.store.clear()


@pytest.fixture(scope="session", autouse=True)
def _one_executor():
    yield
    from components import cache

    cache.executor().close()
    st.cache_resource.clear()


@pytest.fixture(scope="session", autouse=True)
def _one_scan_of_the_packages():
    """AppTest looks through all installed packages for components at every opening of a page; once is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            manifest_scanner, "scan_component_manifests", functools.cache(manifest_scanner.scan_component_manifests)
        )
        yield


def opened(name, **query):
    """A page of the console, opened through app.py."""
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    return app.switch_page(f"pages/{name}.py").run()


@pytest.fixture
def open_page():
    """Open a page in this test's own data folder."""
    return opened


def texts(app):
    """Everything that stands on the page."""
    kinds = ("title", "caption", "markdown", "error", "info", "code", "text")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))
