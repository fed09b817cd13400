"""Tests use a cache of compiled programs of their own, and it is the session's."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def _session_cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    folder.chmod(0o700)
    before = os.environ.get("KINETOGRAPH_CACHE")
    os.environ["KINETOGRAPH_CACHE"] = str(folder)
    yield
    if before is None:
        del os.environ["KINETOGRAPH_CACHE"]
    else:
        os.environ["KINETOGRAPH_CACHE"] = before
