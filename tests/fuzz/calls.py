"""Random calls of the public API, each made of a seed and a number alone, and what becomes of them.

A call ends well if it gives a value, or an error that says in our words what is wrong. It is a
finding if the error is of another kind than `ALLOWED`, or was raised in the depth of a library or
by C code that a line of ours has called: no check has looked at the user's values. If such an error
was replaced by an error with the function's name (`calls/library_errors.py`), the kind is "net".
"""

import contextlib
import dis
import inspect
import os
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tests.fuzz.zoo import FITTING, ZOO

import kinetograph as kg

__all__ = ["ALLOWED", "Call", "Outcome", "carry_out", "make_call", "names"]

PACKAGE = os.path.dirname(kg.__file__) + os.sep
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
ALLOWED = (TypeError, ValueError, LookupError, AttributeError, kg.KinetographError)
_MODULES = ("", "samplers", "observables", "optimizers", "gp", "ode", "streams", "autograph")
# What compiles programs, or runs them.
COMPILING = {
    *("advi", "calculate", "calibration", "chain", "debug", "expectation", "extra_samples"),
    *("laplace_approximation", "log_likelihood", "log_prior", "mcmc", "opt", "pathfinder"),
    *("predict", "resume", "simulate", "step_size_bound", "variance", "minibatch", "report"),
    *("quantile", "responsibilities", "jax_model", "StagedFunction", "debug", "Chain"),
    *("Model.log_prob", "Model.gradient", "Model.hessian", "Model.potential", "Model.transform"),
    *("Model.untransform", "Model.log_density", "Model.debug", "Dataset.shuffle"),
}
# What changes the settings of the process, or is for the inside.
_LEFT_OUT = {"precision", "autograph.set_verbosity", "stashed_samples", "Array", "State", "Model"}
_LEFT_OUT |= {"clear_cache"}
_LEFT_OUT |= {"CondContext", "WhileContext", "ControlFlowContext", "SavedStreams", "Moments"}
_FILES = {"load_graph", "save_graph", "resume", "report", "mcmc"}
_METHODS = {
    "Array": ("unknown vector", "data vector", "whole data", "computed"),
    "Model": ("model",),
    "Dataset": ("dataset",),
    "RandomStreams": ("streams",),
}
_INSIDE = {
    "bind",
    "content",
    "controls",
    "its_values",
    "note_plans",
    "of_content",
}
_INSIDE |= {"value_of", "name", "dims", "axes"}


@dataclass(frozen=True)
class Call:
    """A call: the function, and the names of what it is given, in the zoo."""

    name: str
    holder: str
    positional: tuple[str, ...]
    named: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        given = [*self.positional, *(f"{k}={v}" for k, v in self.named)]
        on = f" of {self.holder}" if self.holder else ""
        return f"{self.name}{on}({'; '.join(given)})"


@dataclass(frozen=True)
class Outcome:
    """What became of a call: `kind` is "", or what is found, and `where` tells alike ones."""

    kind: str
    where: str = ""
    text: str = ""


def names(compiling: bool = True) -> list[str]:
    """The functions, classes and methods that are called."""
    found = []
    for module in _MODULES:
        holder = getattr(kg, module) if module else kg
        for name in holder.__all__:
            value = getattr(holder, name)
            full = f"{module}.{name}" if module else name
            error = inspect.isclass(value) and issubclass(value, BaseException)
            if callable(value) and not error and full not in _LEFT_OUT:
                found.append(full)
    for kind in _METHODS:
        for name, _ in inspect.getmembers(getattr(kg, kind), inspect.isroutine):
            if not name.startswith("_") and name not in _INSIDE:
                found.append(f"{kind}.{name}")
    return sorted(n for n in found if compiling or n not in COMPILING)


def _target(call_name: str) -> Any:
    found: Any = kg
    for part in call_name.split("."):
        found = getattr(found, part)
    return found


def make_call(seed: int, number: int, known: list[str]) -> Call:
    """The call of this number."""
    dice = random.Random(f"{seed}.{number}")
    name = dice.choice(known)
    kind = name.partition(".")[0]
    holder = dice.choice(_METHODS[kind]) if kind in _METHODS and "." in name else ""
    try:
        parameters = list(inspect.signature(_target(name)).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    parameters = parameters[1:] if holder else parameters
    fits = dice.random()  # the chance that an argument suits its parameter

    def some(parameter: str) -> str:
        suited = FITTING.get(parameter)
        if suited and dice.random() < fits:
            return dice.choice(suited)
        return dice.choice([*ZOO])

    positional, named = [], []
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            positional += [some(p.name) for _ in range(dice.randrange(4))]
        elif p.kind is p.VAR_KEYWORD:
            named += [(word, some(word)) for word in ("mu", "nu") if dice.random() < 0.2]
        elif p.default is p.empty and p.kind is not p.KEYWORD_ONLY:
            positional.append(some(p.name))
        elif p.default is p.empty or dice.random() < 0.3:
            named.append((p.name, some(p.name)))
    if dice.random() < 0.03:
        positional.append(dice.choice([*ZOO]))
    if dice.random() < 0.03 and positional:
        positional.pop()
    if dice.random() < 0.03:
        named.append((dice.choice(("sigma", "tune", "observed", "wrong")), dice.choice([*ZOO])))
    return Call(name, holder, tuple(positional), tuple(dict(named).items()))


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def carry_out(call: Call) -> Outcome:
    """Call, and look at how it ends."""
    with _silence():
        if call.holder:
            function = getattr(ZOO[call.holder](), call.name.partition(".")[2])
        else:
            function = _target(call.name)
        positional = [ZOO[key]() for key in call.positional]
        named = {word: ZOO[key]() for word, key in call.named}
        if not call.holder and function is kg.mcmc:
            named.setdefault("progress", False)
        if not call.holder and function is kg.calibration:
            named.setdefault("simulations", 2)  # by default a hundred runs, which take minutes
        return outcome_of(lambda: function(*positional, **named), call.name in _FILES)


def outcome_of(action: Callable[[], Any], files: bool = False) -> Outcome:
    """Do it; whether an error is one that was meant for the user."""
    try:
        action()
    except Exception as error:
        trace = error.__traceback__
        where, ours = _raised_by(trace)
        if files and isinstance(error, OSError):
            return Outcome("")
        text = f"{type(error).__name__}: {error}"[:300]
        if not isinstance(error, ALLOWED):
            return Outcome("kind", f"{type(error).__name__} {where}", text)
        cause = error.__cause__
        if ours and where.startswith("graph/public") and cause is not None:
            where, _ = _raised_by(cause.__traceback__)  # the error of the called function
            return Outcome("net", where, text)
        return Outcome("" if ours else "depth", where, text)
    return Outcome("")


def _raised_by(trace: TracebackType | None) -> tuple[str, bool]:
    """The last line of ours, or of the zoo; whether it is one that raises, and the last of all."""
    last, deepest = None, trace
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith((PACKAGE, HERE)):
            last = trace
        deepest, trace = trace, trace.tb_next
    if last is None or deepest is None:
        return "?", False
    code = last.tb_frame.f_code
    place = f"{code.co_filename.removeprefix(PACKAGE).removeprefix(HERE)}:{last.tb_lineno}"
    if code.co_filename.startswith(HERE):  # a function of the zoo, or the call itself
        return place, last.tb_frame.f_code.co_name != "<lambda>" or last is deepest
    raises = dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    return place, raises and last is deepest
