"""The options, parts and runs of a simulation, without its public values."""

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..graph.precision import precision
from ..graph.public import public
from ..graph.source import place_text
from ..graph.suggestions import (
    Closed,
    MissingAttributeError,
    closest,
    read_missing,
    refuse_assignment,
)
from .columns import columns_of, observables_of
from .descending import check_rate
from .ingredients import DataPart, ModelPart, NetworkPart, check_source, source
from .option_words import option_of, setting
from .options import OPTIONS, check_options, option_named, options_text
from .parameters import ParameterLayout
from .record_files import BegunFile, check_files, check_writable
from .records import TrajectoryData
from .running import Recorder, run
from .sampler_options import hyper_values, make_sampler, with_settings
from .vectors import carried
from .walkers import Walkers

__all__ = ["ROLES", "SimulationParts"]

ROLES = ("sampling", "training")
VALUES = ("dataset", "momenta", "parameters")  # properties with a setter
ORDER = ("data", "network", "model", "sampling")  # a part depends on those before it
DATA_FIRST = "the data belong to the simulation: write simulation.dataset = [X, Y] before the call"
_OF_BOTH = {"number_walkers", "do_accumulates"}  # options of both roles


@public
class SimulationParts(Closed):
    """A simulation without its public values."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            near, advice = closest(name, [*OPTIONS, *VALUES]), setting(name, OPTIONS, value)
            advice = f"write simulation.{near} = ..." if near in VALUES else advice
            refuse_assignment(self, name, sys._getframe(1).f_code.co_filename, advice)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in OPTIONS:
            raise MissingAttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{place_text()}; it is an "
                f"option: get_options({name!r})",
                name=name,
            )
        return read_missing(self, name)

    def __init__(self, dataset: Any = None, network: Any = None, **options: Any) -> None:
        given = check_options(options)
        check_rate(given, given)
        check_source(dataset, given)
        dataset, of_dataset = source(dataset)
        given |= of_dataset
        self._options = {name: option.default for name, option in OPTIONS.items()} | given
        check_files(self._options)
        self._given_sampler = deepcopy(self._options["sampler"])
        self._options, _ = with_settings(self._options, given)
        self._dataset, self._given_network = dataset, network
        self._seed = self._options["seed"]
        self._parts: dict[str, Any] = {}
        self._positions: np.ndarray | None = None
        self._layout: ParameterLayout | None = None  # of the positions
        self._momenta: np.ndarray | None = None
        self._made: dict[str, tuple[int, int]] = {}
        self._recorders: dict[str, Recorder] = {}
        self._files: dict[str, BegunFile] = {}
        self._batch, self._collapsed = 0, False
        if self._seed is None:
            self._seed = secrets.randbits(31)
        if of_dataset:
            _ = self._data  # wrong data are an error at once

    def _advice_on_call(self, method: str, word: str, values: tuple[Any, ...]) -> str:
        """Advice on an unknown keyword or surplus values of a call."""
        if word:
            return setting(word, OPTIONS) + ", before the call" if option_of(word, OPTIONS) else ""
        if method == "set_options":
            name, *rest = values
            pair = isinstance(name, str) and len(rest) == 1
            given = f"{name}={rest[0]!r:.40}" if pair else "sampler='SGLD'"
            given = "**" + f"{name!r:.60}" if isinstance(name, dict) else given
            return f"options are given by name: set_options({given})"
        if method in ("sample", "fit") and isinstance(values[0], int):
            return f"the number of steps is an option: write set_options(max_steps={values[0]})"
        return "" if np.ndim(values[0]) == 0 else DATA_FIRST

    # Parts.
    @property
    def _data(self) -> DataPart:
        if "data" not in self._parts:
            self._parts["data"] = DataPart.make(self._dataset, self._options)
        data: DataPart = self._parts["data"]
        return data

    @property
    def _network(self) -> NetworkPart:
        if "network" not in self._parts:
            part = NetworkPart.make(self._given_network, self._data, self._options, self._seed)
            self._parts["network"] = part
        part = self._parts["network"]
        return part

    @property
    def _model(self) -> ModelPart:
        if "model" not in self._parts:
            self._parts["model"] = ModelPart.make(self._data, self._network, self._options)
        part: ModelPart = self._parts["model"]
        return part

    def _walkers(self, role: str = "sampling") -> Walkers:
        """The running chains of a role, at the present parameters.

        The role "training:1" is the training of walker 1 alone.
        """
        kind, _, number = role.partition(":")
        only = slice(int(number), int(number) + 1) if number else slice(None)
        if role not in self._parts:
            options, starts, model = self._options, self._vectors()[only], self._model
            sampler = make_sampler(kind, options, len(starts), self._network.layout)
            generation, before = self._made.get(role, (0, 0))
            columns = columns_of(sampler, options["do_accumulates"])
            with precision(options["precision"]):
                walkers = Walkers(
                    model.model,
                    sampler,
                    starts,
                    seed=self._seed + (kind == "training") * 2**32,
                    first=int(number or 0),
                    generation=generation,
                    before=before,
                    observables=observables_of(sampler, columns),
                    chain_method=options["chain_method"],
                    threads=options["threads"],
                )
            old = self._momenta if role == "sampling" else None
            if old is not None and walkers.has_momenta and old.shape == starts.shape:
                walkers.momenta = old
            self._parts[role] = walkers
        walkers = self._parts[role]
        walkers.positions = self._vectors()[only]
        return walkers

    def _batch_key(self, walker: int) -> np.ndarray:
        """The key of the batches that a walker sees in sampling."""
        walkers = self._parts.get("sampling")
        if walkers is not None:
            return np.asarray(walkers.key(walker))
        generation, _ = self._made.get("sampling", (0, 0))
        chain = 0 if self._options["covariance_blending"] else walker
        return chain_key(self._seed, generation * 2**16 + chain)

    def _vectors(self) -> np.ndarray:
        """The free parameters of all walkers, (walkers, N)."""
        part, count = self._network, self._options["number_walkers"]
        old, kind = self._positions, np.dtype(self._options["precision"])
        size = len(part.layout.free)
        if old is not None and self._layout is not None and self._layout is not part.layout:
            old = carried(old, self._layout, part.layout)
        if old is None or old.shape[1] != size:
            old = np.zeros((0, size), kind)
        self._layout = part.layout
        if len(old) != count:
            starts = [part.start(i, self._options) for i in range(len(old), count)]
            old = np.concatenate([old[:count], np.array(starts, kind).reshape(-1, size)])
        self._positions = old.astype(kind, copy=False)
        return self._positions

    def _forget(self, first: str) -> None:
        """Drop a part and the parts that depend on it."""
        names = list(ROLES)
        if first in ORDER and first != "sampling":
            names = [*ORDER[ORDER.index(first) :], "training"]
        elif first in ROLES:
            names = [first]
        if "training" in names:
            names += [role for role in self._parts if role.startswith("training:")]
        for name in names:
            part = self._parts.pop(name, None)
            if isinstance(part, Walkers):
                if part.has_momenta:
                    self._momenta = part.momenta
                if part.steps_made > part.before:
                    self._made[name] = (part.generation + 1, part.steps_made)
                self._recorders.pop(name, None)

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Restore the simulation if an error is raised."""
        before = {n: dict(v) if isinstance(v, dict) else v for n, v in vars(self).items()}
        try:
            yield
        except Exception:
            vars(self).update(before)
            raise

    def _check_fixed(self) -> None:
        """Refuse fixed parameters that the network for the data does not have."""
        has_data = self._dataset is not None or self._options["batch_data_files"]
        if self._options["fix_parameters"] and has_data:
            _ = self._network

    # Options.
    def set_options(self, **options: Any) -> None:
        """Set options by name.

        Only the parts that depend on them are made again. A sampler that equals the one given
        before changes nothing, unless an option replaced one of its settings since then.

        Raises
        ------
        AttributeError, ValueError
            As the constructor; then no option is changed.
        """
        given = check_options(options)
        if "sampler" in given and _equal(given["sampler"], self._given_sampler):
            del given["sampler"]
        check_files(self._options | given)
        check_source(self._dataset, given)
        check_rate(self._options | given, given)
        changed = {n: v for n, v in given.items() if not _equal(v, self._options[n])}
        self._options |= changed
        if "seed" in changed and changed["seed"] is not None:
            self._seed = changed["seed"]
        remakes = {OPTIONS[name].remakes for name in changed}
        for first in (*ORDER, "training"):
            if first in remakes:
                self._forget(first)
        if _OF_BOTH & set(changed):
            self._forget("training")
        self._options, settings = with_settings(self._options, given)
        if "sampler" in given or (settings and "sampler" not in options):
            self._given_sampler = deepcopy(given.get("sampler", self._options["sampler"]))
        walkers = self._parts.get("sampling")
        if "values" in remakes and walkers is not None:
            if isinstance(self._options["sampler"], str):
                settings = hyper_values(walkers.sampler, self._options)
            walkers.set_hyper(settings)
        if {"parse_parameters_file", "parse_steps"} & set(changed):
            self._positions = None

    def get_options(self, name: str | None = None) -> Any:
        """The value of an option, or a dictionary of all values."""
        if name is None:
            return dict(self._options)
        return self._options[option_named(name).name]

    def help(self, name: str | None = None) -> str:
        """The options with their values as a text, or one option."""
        return options_text(self._options, name)

    def get_losses(self) -> list[str]:
        """The names of losses."""
        return _names("loss")

    def get_activations(self) -> list[str]:
        """The names of activations."""
        return _names("hidden_activation")

    def get_samplers(self) -> list[str]:
        """The names of samplers."""
        return _names("sampler")

    def get_optimisers(self) -> list[str]:
        """The names of optimisers."""
        return _names("optimizer")

    def _run(self, role: str, keep: bool, other: dict[str, Any] | None = None) -> TrajectoryData:
        options = self._options | {"seed": self._seed} | (other or {})
        walkers = self._walkers(role)
        recorder = self._recorders.setdefault(role, Recorder(walkers.count))
        kind, _, number = role.partition(":")
        if other is None and options["save_model"] is not None:
            check_writable("save_model", options["save_model"])
        if options["verbose"] > 1:
            print(f"{kind}: {self!r}", file=sys.stderr)
        try:
            return run(
                *(kind, walkers, recorder, self._network, self._model, options, self._files, keep),
                stationary=role == "sampling" and not self._collapsed,
                whole=other is not None,
            )
        finally:  # also after an error, which leaves the blocks before it
            self._batch = walkers.event
            if number:
                self._positions = self._vectors().copy()
                self._positions[int(number)] = walkers.positions[0]
            else:
                self._positions = walkers.positions

    def __repr__(self) -> str:
        options = self._options
        changed = [n for n in options if not _equal(options[n], OPTIONS[n].default)]
        return f"Simulation({', '.join(f'{n}={options[n]!r:.40}' for n in changed)})"


def _names(option: str) -> list[str]:
    names = OPTIONS[option].names
    assert names is not None
    return list(names())


def _equal(one: Any, other: Any) -> bool:
    """Whether two values of an option are the same."""
    try:
        if isinstance(one, dict) and isinstance(other, dict):  # fixed parameters
            return one.keys() == other.keys() and all(
                np.array_equal(np.asarray(one[n], float), np.asarray(other[n], float), True)
                for n in one
            )
        return one is other or bool(one == other)
    except (TypeError, ValueError):  # arrays
        return False
