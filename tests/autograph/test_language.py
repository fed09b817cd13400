"""The rest of the language, sources and errors."""

import asyncio
import contextlib
import linecache
import subprocess
import sys
import textwrap
import traceback
import warnings

import pytest
from tests.autograph.refusals import line_of, refusal, refused
from tests.selection import thinned

import kinetograph as kg


# Errors.
def failing(x):
    return x.no_such_attribute  # inner


def calling(x):
    if x > 0:
        y = failing(x)  # outer
    else:
        y = x
    return y


def test_errors_tell_the_users_lines():
    """A37"""
    with pytest.raises(AttributeError) as caught:
        kg.function(calling)(1.0)
    text = refusal(caught.value, failing, AttributeError, "no_such_attribute", at="inner")
    assert text.startswith("in user code:")
    for function, mark, name in ((calling, "outer", "calling"), (failing, "inner", "failing")):
        place = f"test_language.py:{line_of(function, mark)} {name}  *\n"
        assert text.count(place) == 1
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.lineno for f in frames if f.name == "failing"] == [line_of(failing, "inner")]
    assert not [f for f in frames if "kinetograph/autograph/operators" in f.filename]


def test_unconverted_lines_are_marked():
    """A37"""

    @kg.autograph.do_not_convert
    def raw(x):
        raise LookupError("raw")  # here

    def f(x):
        return raw(x)

    text = refused(LookupError, f, (1.0,), "raw", at=None)
    assert f":{line_of(raw, 'here')} raw  **\n" in text


@pytest.mark.parametrize("error", [ValueError, KeyError, ZeroDivisionError, RuntimeError])
def test_errors_keep_their_type(error):
    """A37"""

    def f(x):
        raise error("boom")  # here

    with pytest.raises(error) as caught:
        kg.function(f)(1.0)
    assert type(caught.value) is error
    assert "boom" in str(caught.value)
    assert f"test_language.py:{line_of(f, 'here')} f  *" in str(caught.value)


class TwoParts(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.first = first


def test_errors_with_constructors_of_their_own():
    """A37"""

    def f(x):
        raise TwoParts(1, 2)  # here

    with pytest.raises(kg.StagingError) as caught:
        kg.function(f)(1.0)
    assert isinstance(caught.value, TwoParts)
    assert caught.value.first == 1
    assert "1 and 2" in str(caught.value)
    assert "in user code:" in str(caught.value)


def test_errors_of_arrays_name_variable_and_line():
    """A37"""

    def f(x):
        for _ in kg.range(3):
            pair = kg.stack([x, x])
            triple = kg.stack([x, x, x])
            x = (pair + triple).sum()  # here
        return x

    refused(ValueError, f, (1.0,), r"\(2,\)", r"\(3,\)")


def test_warnings_come_from_the_users_line():
    def f(x):
        if x > 0:
            warnings.warn("mine", UserWarning, stacklevel=1)  # here
        return x

    with pytest.warns(UserWarning, match="mine") as caught:
        kg.function(f)(1.0)
    assert (caught[0].filename, caught[0].lineno) == (__file__, line_of(f, "here"))


# Sources.
SOURCE = """
def f(x):
    if x > 0:
        return x
    return -2 * x
"""


def run_source(text, filename):
    space = {"kg": kg}
    exec(compile(text, filename, "exec"), space)
    return space["f"]


def test_functions_without_source_are_warned_of_once():
    """A38"""
    f = run_source(SOURCE, "<string>")
    staged = kg.function(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with pytest.raises(TypeError, match="source code may not be visible"):
                staged(1.0)
    (warning,) = caught
    assert warning.category is kg.AutographWarning
    assert "f (<string>:2) cannot be converted" in str(warning.message)


def test_functions_without_source_run_as_they_are():
    """A38"""
    f = run_source("def f(x):\n    return 2 * x\n", "<string>")
    with pytest.warns(kg.AutographWarning, match="cannot be converted"):
        assert kg.function(f)(1.5) == 3


def test_strict_functions_need_their_source():
    """A38, D3"""
    f = run_source(SOURCE, "<string>")
    with pytest.raises(kg.ConversionError, match=r"f \(<string>:2\) cannot be converted"):
        kg.function(f, strict=True)(1.0)


def test_cells_of_notebooks():
    """A38"""
    name = "<ipython-input-7-abc>"
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(True), name)
    f = kg.function(run_source(SOURCE, name))
    assert (f(2.0), f(-2.0)) == (2, 4)


def test_equal_functions_of_two_files(tmp_path):
    """5.2"""
    for name in ("one", "two"):
        file = tmp_path / f"{name}.py"
        file.write_text(
            textwrap.dedent("""
            def f(x):
                if x > 0:
                    return x.nothing
                return x
            """)
        )
        with pytest.raises(AttributeError, match=rf"{name}\.py:4 f  \*"):
            kg.function(run_source(file.read_text(), str(file)))(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("option", thinned(["-Xno_debug_ranges", "-O", "-Xdev"], 3))
def test_options_of_the_interpreter(option, tmp_path):
    """5.5"""
    file = tmp_path / "program.py"
    file.write_text(
        textwrap.dedent("""
        import kinetograph as kg
        f, g = (lambda x: x if x > 0 else 1.0), (lambda x: x if x > 0 else x * 2.0)
        @kg.function
        def h(n):
            assert n < 5, "big"
            s = 0
            for i in kg.range(n):
                if i == 3:
                    break
                s += i
            return s
        def value(n):
            try:
                return int(h(n))
            except AssertionError:
                return "refused"
        print(float(kg.function(f)(-1.0)), float(kg.function(g)(-1.0)), value(4), value(6))
        """)
    )
    done = subprocess.run(
        [sys.executable, option, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1.0", "-2.0", "3", "3" if option == "-O" else "refused"]


# match.
def by_literals(x):
    match x:
        case 0:
            r = 10
        case 1 | 2:
            r = 20
        case n if n > 5:
            r = n * 2
        case _:
            r = -1
    return r


def by_returns(x):
    match x:
        case 3:
            return 30
        case other:
            return other + 1


def of_python_values(x):
    match {"kind": "scaled", "by": [2, 3]}:
        case {"kind": "plain"}:
            return x
        case {"kind": "scaled", "by": [first, *rest]} if first < 5:
            return x * first + len(rest)
    return 0


@pytest.mark.parametrize("f", [by_literals, by_returns, of_python_values])
def test_match(f):
    """A40"""
    staged = kg.function(f)
    for x in (0, 1, 2, 3, 4, 7):
        assert staged(x) == f(x)
    assert staged.traces == 1


def test_patterns_that_arrays_cannot_match():
    """A40"""

    def classes(x):
        match x:
            case float():  # here
                return 1
        return 2

    def sequences(v):
        match v:
            case [a, b]:  # here
                return a + b
        return 2

    refused(TypeError, classes, (1.0,), "match on the symbolic x", "only literals")
    refused(TypeError, sequences, ([1.0, 2.0],), "match on the symbolic v")


# Statements.
@contextlib.contextmanager
def entered(log):
    log.append("enter")
    try:
        yield 5.0
    finally:
        log.append("exit")


def test_with_around_staged_jumps():
    """A42"""

    @kg.function
    def f(n):
        s = 0.0
        for i in kg.range(n):
            with contextlib.ExitStack() as stack:
                stack.callback(lambda: None)
                if i == 1:
                    continue
                if i == 4:
                    break
                s = s + i
            s = s + 100
        return s

    assert [float(f(n)) for n in (0, 1, 2, 4, 9)] == [0, 100, 100, 305, 305]


def test_with_is_entered_and_left_once():
    """A42"""
    log = []

    @kg.function
    def f(x):
        with entered(log) as five:
            if x > 0:
                return x * five
            return x

    assert (f(2.0), f(-2.0)) == (10, -2)
    assert log == ["enter", "exit"]


def test_try_except_else_finally():
    """A42"""

    @kg.function
    def f(x, divisor):
        log = 0.0
        try:
            y = 1 / divisor
        except ZeroDivisionError:
            y = 7.0 if x > 0 else 8.0
        else:
            y = y if x > 0 else -y
        finally:
            log = log + 100
        return y + log

    g = kg.function(f.python_function, static_argnames="divisor")
    assert [float(g(x, d)) for d in (2, 0) for x in (1.0, -1.0)] == [100.5, 99.5, 107, 108]


def test_except_star():
    """A42"""

    @kg.function
    def f(x):
        y = 0.0
        try:
            raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])
        except* ValueError:
            y = y + (1.0 if x > 0 else 2.0)
        except* KeyError:
            y = y + 10
        return y

    assert (f(1.0), f(-1.0)) == (11, 12)


def test_del_starred_augmented_and_annotated():
    """A42"""

    @kg.function
    def f(x):
        first, *rest = [x, 2.0, 3.0]
        total: float = first
        total += rest[0]
        if x > 0:
            del rest
            y: float = total
            y *= 2
        else:
            del rest
            y = total
        a = b = y
        b -= 1
        return a, b

    assert f(1.0) == (6, 5)
    assert f(-1.0) == (1, 0)


def test_type_parameters():
    """A42"""

    @kg.function
    def f[T](x: T) -> T:
        type Own = list[T]
        assert Own.__name__ == "Own"
        return x if x > 0 else -x

    assert f(-2.0) == 2


def test_formatted_texts():
    """A42"""

    @kg.function
    def f(x, n):
        text = f"{n:03d} {n!r:>3} {'positive' if n > 0 else 'not'}"
        return x if text == "007   7 positive" else -x

    assert kg.function(f.python_function, static_argnames="n")(2.0, 7) == 2


def test_numbers_of_arrays_in_texts():
    """A42"""

    def f(x):
        return f"{x:.2f}"  # here

    text = refused(TypeError, f, (1.0,), at="here")
    assert "kg.print" in text


def test_generators_and_coroutines():
    """A43"""

    def generator(x):
        yield x

    async def coroutine(x):
        return x

    async def both(x):
        yield x

    with pytest.raises(kg.ConversionError, match="generators are not supported"):
        kg.function(generator)(1.0)
    for f in (coroutine, both):
        with pytest.raises(kg.ConversionError, match="async functions are not supported"):
            kg.function(f)(1.0)


def test_coroutines_may_call_staged_functions():
    """A43"""
    double = kg.function(lambda x: 2 * x if x > 0 else x)

    async def main():
        return double(2.0)

    assert asyncio.run(main()) == 4


class Private:
    __shared = 3.0

    def __init__(self):
        self.__own = 1.0

    def act(self, x):
        if x > 0:
            self.__own = self.__own + x
        for _ in kg.range(2):
            self.__own = self.__own * self.__shared
        return self.__own

    def __hidden(self, x):
        return x if x > 0 else -x

    def call(self, __x):
        return self.__hidden(__x)


def test_private_names():
    """A44"""
    staged = kg.function(lambda x: Private().act(x))
    assert (staged(2.0), staged(-2.0)) == (27, 9)
    assert kg.function(Private().call)(-2.0) == 2


def test_names_that_converted_code_uses_itself():
    @kg.function
    def f(x):
        get_state, set_state, if_body, else_body = 1.0, 2.0, 3.0, 4.0
        loop_body, loop_test, extra_test, itr = 5.0, 6.0, 7.0, 8.0
        break_, continue_, do_return, retval_, subject, operand = 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
        for i in kg.range(3):
            if x > i:
                break_ = break_ + x
                continue
            if x < -5:
                break
            if x < -8:
                return retval_, 0.0
            loop_body += get_state
            retval_ = retval_ * 2
            do_return += 1
            if_body -= 1
        match x:
            case 3.0:
                subject = subject + 1
            case _:
                subject = 0.0
        return (
            set_state + else_body + break_ * loop_body + retval_ - do_return + if_body * itr,
            loop_test + extra_test + continue_ + subject + operand,
        )

    assert f(3.0) == (2 + 4 + 10 * 5 + 4 - 3 + 24, 27)
    assert f(-1.0) == (2 + 4 + 8 + 32 - 6 + 0, 21)
