"""The settings of a sampler: the values of its hyper-parameters.

A `Sampler` is such a collection of values with `init` and `step`. A run gets from it the arguments
of its program (`hypers`), the key of the program (`structure`) and the record of the settings
(`settings`). Inner samplers are values, too: their settings are called "name.setting".
"""

import copy
import sys
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..calls.signature_errors import no_parameter
from ..graph.errors import ModelError, ShapeError
from ..graph.public import public
from ..graph.source import is_own
from ..kernels.contract import Space
from .declarations import check_names
from .hyper import Hyper, Nested, declared
from .identity import identity_of
from .scale import Scale
from .tuned_names import tuned_names

__all__ = ["PACKAGE", "Settings"]

PACKAGE = __name__.split(".", maxsplit=1)[0]


@public
class Settings(Nested):
    """The values of hyper-parameters, and the names that warm-up tunes."""

    tunes: ClassVar[tuple[str, ...]] = ()
    scale: Any = None
    _values: dict[str, Any]
    _tune: tuple[str, ...]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Set the defaults, for an `__init__` that does not set the hyper-parameters."""
        instance = super().__new__(cls)
        values = {name: h.check(h.default, cls.__name__) for name, h in declared(cls).items()}
        instance.__dict__.update(_values=values, _tune=cls.tunes)
        return instance

    def __init__(self, *values: Any, tune: Any = None, **settings: Any) -> None:
        names = declared(type(self))
        title = type(self).__name__
        ordered = [name for name in names if name != "scale"]
        if len(values) > len(ordered):
            raise TypeError(
                f"{title} takes at most {len(ordered)} settings by position ({', '.join(ordered)}),"
                f" got {len(values)}"
            )
        for name, value in zip(ordered, values, strict=False):
            if name in settings:
                raise TypeError(f"{title}: {name} is given twice")
            settings[name] = value
        for name in settings:
            if name not in names:
                text = no_parameter(title, name, [*names, "tune"])
                if type(self).__module__.split(".")[0] != PACKAGE:
                    text += f"; a class declares settings, as in {name} = kg.hyper(0.1)"
                raise TypeError(text)
        for name, value in settings.items():
            setattr(self, name, value)
        if tune is not None:
            self.tune = tune

    if not TYPE_CHECKING:  # otherwise type checkers would accept every attribute

        def __setattr__(self, name: str, value: Any) -> None:
            kind = type(self)
            if not hasattr(kind, name) and kind.__module__.split(".")[0] == PACKAGE:
                self._refuse_from_outside(name)
            super().__setattr__(name, value)

    def _refuse_from_outside(self, name: str) -> None:
        """Refuse an attribute that a user sets and kinetograph never reads."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_name == "__setattr__":
            frame = frame.f_back
        if frame is not None and not is_own(frame.f_code.co_filename):
            names = [*declared(type(self)), "tune"]
            raise AttributeError(no_parameter(type(self).__name__, name, names), name=name)

    @property
    def tune(self) -> tuple[str, ...]:
        """The names of the hyper-parameters that warm-up tunes."""
        return self._tune

    @tune.setter
    def tune(self, value: Any) -> None:
        names = (value,) if isinstance(value, str) else value
        self._tune = check_names(names, self.tunes, f"{type(self).__name__}: tune")

    def declared(self) -> dict[str, Hyper]:
        """The hyper-parameters by name; inner samplers' ones as `name.hyper`."""
        hypers = declared(type(self))
        for name, inner in self._inner().items():
            del hypers[name]
            hypers |= {f"{name}.{k}": h for k, h in inner.declared().items()}
        return hypers

    def values(self) -> dict[str, Any]:
        """The values of the hyper-parameters, by the names of `declared`."""
        values = {n: v for n, v in self._values.items() if not isinstance(v, Settings)}
        for name, inner in self._inner().items():
            values |= {f"{name}.{k}": v for k, v in inner.values().items()}
        return values

    def _inner(self) -> dict[str, "Settings"]:
        """The inner samplers by name."""
        return {name: v for name, v in self._values.items() if isinstance(v, Settings)}

    def as_inner(self, owner: str) -> Self:
        """A copy with separate values, as an inner sampler of another sampler.

        `owner` names the hyper-parameter in messages.
        """
        inner = copy.copy(self)
        inner.__dict__["_values"] = {
            n: v.as_inner(owner) if isinstance(v, Settings) else v for n, v in self._values.items()
        }
        return inner

    def settings(self) -> dict[str, Any]:
        """The settings as they are stored in results: numbers, lists and strings."""
        settings = {name: _plain(value) for name, value in self._values.items()}
        if self.scale is None:
            del settings["scale"]
        return settings

    def hypers(self, space: Space) -> dict[str, np.ndarray]:
        """The values that are arguments of the compiled program, by name.

        Raises
        ------
        ShapeError
            If a value is neither one number nor has an element for each coordinate of the space.
        """
        names, size = self.declared(), space.shape[-1]
        self._check_tuned()
        scales = {"scale"} & {*self.tunes} | {*tuned_names(self)}
        hypers = {}
        for name, value in self.values().items():
            if value is None and name in scales:
                value = np.ones(size)
            if value is None or callable(value) or names[name].static:
                continue
            array = np.asarray(value, np.int64 if names[name].whole else space.dtype)
            if name == "scale" and "scale" in self.tunes:
                array = np.full(size, array) if array.ndim == 0 else array
            matrix = isinstance(names[name], Scale)
            if "." in name and array.ndim in (1, 1 + matrix):
                hypers[name] = array  # may be for a block: checked when the step is built
                continue
            if array.shape not in ((), (size,)) and not (matrix and array.shape == (size, size)):
                raise ShapeError(
                    f"{type(self).__name__}: {name} has shape {array.shape}; one number, or one "
                    f"for each of the {size} free coordinates, ({size},), is expected"
                    f"{f', or a factor of a covariance, {(size, size)}' if matrix else ''}"
                )
            hypers[name] = array
        return hypers

    def _check_tuned(self) -> None:
        """Refuse settings that warm-up cannot tune, such as schedules and matrices."""
        if "scale" in self.tune and np.ndim(self._values["scale"]) == 2:
            without_scale = tuple(name for name in self.tune if name != "scale")
            raise ModelError(
                f"{type(self).__name__}: scale is a matrix, and warm-up tunes a number for each "
                f"coordinate; give tune={without_scale!r} to keep the matrix"
            )
        for name in (*self.tune, *(("target_acceptance",) if "step_size" in self.tune else ())):
            if callable(self._values[name]):
                raise ModelError(
                    f"{type(self).__name__}: {name} is a function of the step's number, and "
                    f"warm-up tunes {' and '.join(self.tune)}; give {name} as a number, or tune=()"
                )
        target = self._values["target_acceptance"] if "step_size" in self.tune else 0
        if np.ndim(target):
            raise ShapeError(
                f"{type(self).__name__}: target_acceptance must be one number, got shape "
                f"{np.shape(target)}"
            )

    def check_hypers(self, values: Mapping[str, Any]) -> None:
        """Raise ValueError if a value of a hyper-parameter is out of range."""
        names, title = self.declared(), type(self).__name__
        for name, value in values.items():
            inner = "".join(f".{part}" for part in name.split(".")[:-1])
            names[name].check(np.asarray(value), title + inner)

    def structure(self) -> tuple[Any, ...]:
        """A key of the compiled program, without the values of its arguments."""
        names = self.declared()
        parts: list[Any] = [type(self), tuple(self.tune)]
        for name, value in self.values().items():
            if names[name].static or value is None or callable(value):
                parts.append((name, identity_of(value)))
            else:
                parts.append((name, np.shape(value)))
        parts += [(name, inner.structure()) for name, inner in self._inner().items()]
        attributes = {k: v for k, v in vars(self).items() if k not in ("_values", "_tune")}
        return (*parts, *((k, identity_of(v)) for k, v in attributes.items()))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Settings)
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (*self.structure(), *(identity_of(v) for v in self._values.values()))

    def __repr__(self) -> str:
        defaults = {name: d.default for name, d in declared(type(self)).items()}
        shown = [
            f"{name}={value!r}"
            for name, value in self._values.items()
            if identity_of(value) != identity_of(defaults[name])
        ]
        if self.tune != self.tunes:
            shown.append(f"tune={self.tune!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _plain(value: Any) -> Any:
    """A setting as a number, list, string or dictionary."""
    if isinstance(value, Settings):
        tune = {} if value.tune == value.tunes else {"tune": list(value.tune)}
        return {"sampler": type(value).__name__, **tune, **value.settings()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return getattr(value, "__name__", None) or repr(value)
