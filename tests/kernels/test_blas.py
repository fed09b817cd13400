"""Linear algebra on one thread."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_info

from kinetograph.kernels.blas import one_thread


def threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_however_many_want_it_at_once_the_limit_goes_with_the_last():
    np.linalg.eigh(np.eye(2))
    before = threads()

    def within(_: int) -> set[int]:
        with one_thread():
            np.linalg.eigh(np.eye(20))
            return set(threads())

    with ThreadPoolExecutor(4) as pool:
        assert all(found == {1} for found in pool.map(within, range(20)))
    assert threads() == before


def test_those_who_begin_and_end_crosswise_leave_what_was():
    np.linalg.eigh(np.eye(2))
    before = threads()
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        one, other = one_thread(), one_thread()
        for pool, step in (
            (first, one.__enter__),
            (second, other.__enter__),
            (first, lambda: one.__exit__(None, None, None)),
        ):
            pool.submit(step).result()
            assert set(threads()) == {1}
        second.submit(lambda: other.__exit__(None, None, None)).result()
    assert threads() == before


LATER = """
import numpy as np
from kinetograph.kernels.blas import one_thread
with one_thread():
    import jax
    from threadpoolctl import threadpool_info
    jax.numpy.linalg.cholesky(np.eye(3)).block_until_ready()
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    print(len(pools), {pool["num_threads"] for pool in pools})
"""


def test_the_library_of_compiled_programs_is_limited_though_it_is_loaded_later():
    process = subprocess.run(
        [sys.executable, "-c", LATER], capture_output=True, text=True, check=True, timeout=120
    )
    assert process.stdout.split(" ", 1)[1].strip() == "{1}", process.stdout
