"""kg.RandomStreams: each draw has a stream of its own, in each function of its own."""

import copy
import inspect
import json
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import distributions
from kinetograph.distributions.family import FAMILIES
from kinetograph.streams.methods import METHODS


@pytest.fixture(scope="module")
def compiled():
    """The worked example of Theano's text, whose numbers have names; nothing calls these."""
    r = kg.RandomStreams(metaseed=872364)
    rr = kg.RandomStreams(metaseed=99)
    u = r.uniform(shape=(3, 4, 5), min=0.0, max=1.0)
    v = r.uniform(shape=(8,), min=-1.0, max=0.0)
    w = rr.uniform(shape=(), min=-10.0, max=10.0)
    return r, rr, u, v, w, kg.compile([], v), kg.compile([], [u, v, w])


@pytest.fixture
def example(compiled):
    """With functions of its own, which share the compiled programs."""
    *arrays, fn_v, fn_uvw = compiled
    return (*arrays, copy.copy(fn_v), copy.copy(fn_uvw))


def test_the_letters_of_the_example(example):
    r, rr, _, v, _, fn_v, fn_uvw = example
    assert fn_v.state[v.rng] != fn_uvw.state[v.rng]
    assert fn_v.state[v.rng].same_as(fn_uvw.state[v.rng])
    a, b = fn_v(), fn_v()
    assert not np.array_equal(a, b)
    c, a_again, e = fn_uvw()
    np.testing.assert_array_equal(a_again, a)
    r.seed(fn_v, 872364)
    np.testing.assert_array_equal(fn_v(), a)
    np.testing.assert_array_equal(fn_v(), b)
    rr.seed(fn_uvw, 99)
    d, b_again, e_again = fn_uvw()
    np.testing.assert_array_equal(b_again, b)
    assert e_again == e
    assert not np.array_equal(c, d)


def test_results_and_membership(example):
    r, rr, u, v, w, *_ = example
    assert [x is y for x, y in zip(r.results(), [u, v], strict=True)] == [True, True]
    assert u in r
    assert w not in r
    assert w in rr


def test_a_stream_depends_on_its_member_alone():
    def drawn(before, after):
        r = kg.RandomStreams(5)
        for _ in range(before):
            r.uniform()
        x = r.normal(shape=(4,))
        others = [r.exponential(2.0) for _ in range(after)]
        f = kg.compile([], [*others[::-1], x])
        return [f()[-1] for _ in range(3)]

    first = drawn(0, 0)
    np.testing.assert_array_equal(first, drawn(0, 3))
    assert not np.array_equal(first, drawn(1, 0))


def test_functions_do_not_move_each_other(example):
    *_, v, _, fn_v, fn_uvw = example
    for _ in range(10):
        fn_v()
    assert fn_v.state[v.rng].counter == 10
    assert fn_uvw.state[v.rng].counter == 0


def test_handles(example):
    *_, u, v, _, fn_v, fn_uvw = example
    handle = fn_v.state[v.rng]
    assert handle == fn_v.state[v.rng]
    assert hash(handle) == hash(fn_v.state[v.rng])
    assert handle.value["algorithm"] == "threefry4x32-20"
    assert "counter 0" in repr(handle)
    assert handle.value["key"] == fn_uvw.state[v.rng].value["key"]
    with pytest.raises(KeyError, match=r"stream of 'u' \(created by RandomStreams.*member 0\) is"):
        fn_v.state[u.rng]
    with pytest.raises(TypeError, match="is not a random draw"):
        (u + 1).rng


def test_names_keep_streams_in_place():
    def drawn(names):
        r = kg.RandomStreams(3)
        arrays = {name: r.normal(name=name) for name in names}
        return float(kg.compile([], arrays["eps"])())

    assert drawn(["eps"]) == drawn(["other", "eps", "third"])
    r = kg.RandomStreams(3)
    r.normal(name="eps")
    with pytest.raises(ValueError, match="a draw of the name 'eps' already"):
        r.uniform(name="eps")


SEEDS = [0, 1, 2**32, [0, 1], [1, 2], [2, 1], [1, 2, 0], 2**200, [5], (7, 2**70)]


def test_seeds_are_all_different():
    r = kg.RandomStreams(0)
    f = kg.compile([], r.uniform())
    first = []
    for seed in SEEDS:
        r.seed(f, seed)
        first.append(float(f()))
        r.seed(f, seed)
        assert f() == first[-1]
    assert len(set(first)) == len(SEEDS)
    r.seed(f, np.int64(1))
    assert f() == first[1]


@pytest.mark.parametrize("bad", [1.5, True, -1, None, [], "7", [1, 2.5], [1, -2], [None]])
def test_what_is_no_seed(bad):
    r = kg.RandomStreams(0)
    f = kg.compile([], r.uniform())
    with pytest.raises((TypeError, ValueError), match=r"seed: (must|the list)"):
        r.seed(f, bad)
    if bad is not None:
        with pytest.raises((TypeError, ValueError), match="metaseed"):
            kg.RandomStreams(bad)


def test_a_metaseed_from_entropy_is_recorded():
    r = kg.RandomStreams()
    assert r.metaseed != kg.RandomStreams().metaseed
    again = eval(repr(r), {"RandomStreams": kg.RandomStreams})
    assert kg.compile([], again.uniform())() == kg.compile([], r.uniform())()


def test_seeding_a_function_of_other_streams(example):
    _, rr, *_, fn_v, _ = example
    with pytest.raises(ValueError, match="draws nothing from RandomStreams rr"):
        rr.seed(fn_v, 1)


def test_states_are_saved_and_put_back(example, tmp_path):
    r, rr, _, _, _, fn_v, fn_uvw = example
    fn_v()
    saved = r.getstate(fn_v)
    expected = [fn_v(), fn_v()]
    np.savez(tmp_path / "state.npz", **saved.to_arrays())
    with np.load(tmp_path / "state.npz") as arrays:
        from_file = kg.SavedStreams.from_arrays(arrays)
    forms = [saved, pickle.loads(pickle.dumps(saved)), from_file]
    forms.append(kg.SavedStreams.from_json(json.dumps(json.loads(saved.to_json()))))
    for form in forms:
        assert form == saved
        r.setstate(fn_v, form)
        np.testing.assert_array_equal([fn_v(), fn_v()], expected)
    with pytest.raises(ValueError, match=r"state has streams \{.*member 1\}, function has"):
        r.setstate(fn_uvw, saved)
    r.setstate(fn_uvw, saved, strict=False)
    np.testing.assert_array_equal(fn_uvw()[1], expected[0])
    with pytest.raises(ValueError, match="state has streams"):
        rr.setstate(fn_uvw, saved)


@pytest.mark.parametrize(
    "words", [["00000000"] * 5 + ["zz"], ["100000000"] * 6, ["-0000001"] * 6, "abcdef", 6]
)
def test_a_text_that_is_not_a_state_is_refused(example, words):
    r, *_, fn_v, _ = example
    content = json.loads(r.getstate(fn_v).to_json())
    content["streams"] = dict.fromkeys(content["streams"], words)
    with pytest.raises(ValueError, match="from_json: expected the states that to_json wrote"):
        kg.SavedStreams.from_json(json.dumps(content))
    with pytest.raises(ValueError, match=r"from_json: .* 'streams' is missing"):
        kg.SavedStreams.from_json("{}")


@pytest.mark.parametrize("change", [0.5, 2**32, -(2**32)])
def test_arrays_that_are_not_a_state_are_refused(example, change):
    """They are not rounded or wrapped: the draws would be others."""
    r, *_, fn_v, _ = example
    arrays = r.getstate(fn_v).to_arrays()
    with pytest.raises(ValueError, match=r"whole numbers from 0 to 2\*\*32 - 1"):
        kg.SavedStreams.from_arrays(arrays | {"words": arrays["words"] + np.array(change)})
    with pytest.raises(ValueError, match=r"from_arrays: .* 'words' is missing"):
        kg.SavedStreams.from_arrays({n: a for n, a in arrays.items() if n != "words"})


def test_a_saved_state_after_seeding_is_that_seed(example):
    r, *_, fn_v, _ = example
    r.seed(fn_v, 99)
    saved = r.getstate(fn_v)
    a = fn_v()
    r.setstate(fn_v, saved)
    np.testing.assert_array_equal(fn_v(), a)
    r.seed(fn_v, 99)
    np.testing.assert_array_equal(fn_v(), a)


def test_states_of_another_version_are_refused(example):
    r, *_, fn_v, _ = example
    saved = r.getstate(fn_v)
    saved.version = 0
    with pytest.raises(ValueError, match=r"stream version 0 .*; this is"):
        r.setstate(fn_v, saved)


def test_an_array_used_often_is_drawn_once():
    v = kg.random.normal(shape=(3,))
    f = kg.compile([], [v + v - 2 * v, v])
    zero, value = f()
    np.testing.assert_array_equal(zero, 0)
    assert f.state[v.rng].counter == 1
    assert not np.array_equal(value, f()[1])


def test_the_same_metaseed_twice_gives_synchronised_streams():
    a, b = kg.RandomStreams(4), kg.RandomStreams(4)
    x, y = a.uniform(), b.uniform()
    f = kg.compile([], [x, y])
    first, second = f()
    assert first == second
    a.seed(f, 5)
    first, second = f()
    assert first != second


def test_gradients_are_reparametrised():
    loc, scale = kg.placeholder(name="loc"), kg.placeholder(name="scale")
    z = kg.RandomStreams(1).normal(loc, scale)
    f = kg.compile([loc, scale], [z, *kg.gradients(z**2, [loc, scale])])
    value, by_loc, by_scale = f(1.0, 2.0)
    assert by_loc == pytest.approx(2 * value, rel=1e-12)
    assert by_scale == pytest.approx(2 * value * (value - 1) / 2, rel=1e-13)
    assert f.state[z.rng].counter == 1


def test_counters_have_64_bits():
    r = kg.RandomStreams(1)
    u = r.uniform(shape=(2,))
    f = kg.compile([], u)
    seen = []
    for start in (2**32 - 2, 2**33 - 2):
        f.state[u.rng].counter = start
        seen += [f().tobytes() for _ in range(4)]
        assert f.state[u.rng].counter == start + 4
    f.state[u.rng].counter = 2
    seen += [f().tobytes() for _ in range(4)]
    assert len(set(seen)) == 12
    f.state[u.rng].counter = 2**64 - 1
    with pytest.raises(kg.KinetographError, match=r"all 2\*\*64 draws"):
        f()
    assert f.state[u.rng].counter == 2**64 - 1


def test_copies_have_states_of_their_own(example):
    *_, v, _, fn_v, _ = example
    fn_v()
    for twin in (copy.copy(fn_v), copy.deepcopy(fn_v)):
        assert twin.state[v.rng].same_as(fn_v.state[v.rng])
        np.testing.assert_array_equal(twin.state[v.rng].words, fn_v.state[v.rng].words)
        before = fn_v.state[v.rng].counter
        twin()
        assert fn_v.state[v.rng].counter == before


def test_a_pickled_function_goes_on_where_it_was(example):
    r, rr, u, _, _, _, fn_uvw = example
    total = kg.state(1.0, name="total")
    f = kg.compile([], [u, total.assign_add(2.0)])
    f()
    fn_uvw()
    loaded, other = pickle.loads(pickle.dumps((f, fn_uvw)))
    for mine, theirs in zip((*f(), *fn_uvw()), (*loaded(), *other()), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    saved = r.getstate(other)
    assert saved == r.getstate(fn_uvw)
    rr.seed(other, 99)
    rr.seed(fn_uvw, 99)
    np.testing.assert_array_equal(other()[2], fn_uvw()[2])


def test_the_global_instance():
    x, y = kg.random.normal(), kg.random.uniform()
    f = kg.compile([], [x, y])
    first = f()
    f()
    kg.random.seed(f, kg.random.metaseed)
    np.testing.assert_array_equal(f(), first)
    assert x in kg.random


def test_calls_from_threads_draw_every_event_once():
    u = kg.RandomStreams(2).uniform()
    f = kg.compile([], u)
    found = []
    threads = [
        threading.Thread(target=lambda: found.extend(float(f()) for _ in range(50)))
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert f.state[u.rng].counter == 200
    assert len(set(found)) == 200


def test_a_failed_call_leaves_states_as_they_were():
    u = kg.RandomStreams(2).uniform()
    kg.while_loop(lambda i: i < 9, lambda i: i + 1, [0])
    (i,) = kg.while_loop(
        lambda i: i < 9, lambda i: i + 1, [0], maximum_iterations=3, on_limit="error"
    )
    f = kg.compile([], [u, i])
    with pytest.raises(kg.LoopError):
        f()
    assert f.state[u.rng].counter == 0


@pytest.mark.slow
def test_another_process_draws_the_same():
    code = (
        "import kinetograph as kg; r = kg.RandomStreams(11); "
        "f = kg.compile([], r.normal(shape=(3,))); print([float(x).hex() for x in f()])"
    )
    r = kg.RandomStreams(11)
    mine = [float(x).hex() for x in kg.compile([], r.normal(shape=(3,)))()]
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == str(mine)


def test_longer_draws_begin_with_shorter_ones():
    short, long = (kg.RandomStreams(8).normal(shape=(n,)) for n in (7, 100))
    short, long = kg.compile([], [short, long])()
    np.testing.assert_array_equal(long[:7], short)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda r, n: r.uniform(shape=(n,)), "known only at run time"),
        (lambda r, n: r.uniform(2.0, 1.0), "min"),
        (lambda r, n: r.normal(0.0, -1.0), "sd must be"),
        (lambda r, n: r.bernoulli(1.5), "prob must be"),
        (lambda r, n: r.choice(2, p=[0.3, 0.6]), r"must sum to 1, got a sum of 0\.9 "),
        (lambda r, n: r.choice(2, p=[0.5, 0.6]), r"must sum to 1, got a sum of 1\.1 "),
        (lambda r, n: r.uniform(shape=(-1,)), "negative length"),
        (lambda r, n: r.uniform(shape=2.5), "shape"),
        (lambda r, n: r.normal(np.zeros(3), 1.0, shape=(4,)), "shape"),
    ],
)
def test_bad_draws_are_refused_at_once(make, text):
    n = kg.placeholder(dtype=int, name="n")
    with pytest.raises((TypeError, ValueError), match=text):
        make(kg.RandomStreams(1), n)


def test_uniforms_stay_below_their_upper_end_after_rounding():
    with kg.precision("float32"):
        u = kg.RandomStreams(1).uniform(1e6, 1e6 + 1, shape=(10000,))
        values = kg.compile([], u)()
    assert values.dtype == np.float32
    assert values.min() >= 1e6
    assert values.max() < 1e6 + 1


def test_choices_and_permutations():
    r = kg.RandomStreams(6)
    f = kg.compile(
        [],
        [
            r.permutation(10),
            r.choice(5, (1000,), p=[0, 0.5, 0, 0.5, 0]),
            r.choice(9, 4, replace=False),
            r.permutation(np.arange(12.0).reshape(4, 3)),
            r.choice(4, 2, replace=False, p=[0.0, 0.5, 0.0, 0.5]),
        ],
    )
    order, chosen, distinct, rows, weighted = f()
    assert sorted(order) == list(range(10))
    assert set(chosen) == {1, 3}
    assert len(set(distinct)) == 4
    assert sorted(map(tuple, rows)) == [(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)]
    assert sorted(weighted) == [1, 3]
    with pytest.raises(ValueError, match="5 of 3 without replacement"):
        r.choice(3, 5, replace=False)


def test_the_functional_core_is_the_same_stream():
    rng = kg.placeholder((6,), dtype="uint32", name="rng")
    after, x = kg.streams.draw("normal", rng, 0.0, 1.0, shape=(2,))
    f = kg.compile([rng], [after, x])
    state = kg.streams.new_state(11, 0)
    whole = kg.compile([], kg.RandomStreams(11).normal(shape=(2,)))
    for _ in range(3):
        state, value = f(state)
        np.testing.assert_array_equal(value, whole())
    with pytest.warns(kg.KinetographWarning, match="has been used for a draw already") as seen:
        kg.streams.draw("uniform", rng, 0.0, 1.0)
    assert seen[0].filename == __file__
    with pytest.raises(kg.ModelError, match="has been used"):
        kg.streams.draw("uniform", rng, 0.0, 1.0, strict=True)


def test_every_distribution_has_a_method():
    r = kg.RandomStreams(3)
    public = {name for name in distributions.__all__ if name in FAMILIES}
    assert public <= set(METHODS)
    for name in public:
        own = list(inspect.signature(getattr(distributions, name)).parameters.values())
        drawn = list(inspect.signature(getattr(r, name)).parameters.values())
        required = [p for p in own if p.name in {q.name for q in FAMILIES[name].parameters}]
        for parameter in required:  # the same names, in the same order, with the same defaults
            assert parameter.name in {p.name for p in drawn}, name
        first = [p for p in own if p.kind is p.POSITIONAL_OR_KEYWORD]
        assert [p.name for p in first] == [p.name for p in drawn[: len(first)]], name
