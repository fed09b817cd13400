"""`kg.formula`: a model from a formula and a data frame."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..graph.array import Array
from ..graph.errors import DataError, ModelError
from ..graph.functions.mathematics import exp
from ..graph.inputs import data as data_array
from ..graph.node import next_serial
from ..graph.public import public
from ..graph.source import place_text, variable_here
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import in_words, shown
from ..models.expectations import expectation
from ..models.factor import log_density
from ..models.model import Model
from ..models.model_of_targets import model as make_model
from ..models.result_types import DataTree
from ..prediction.predict import predict, replicated
from ..prediction.recorded_draws import is_same, recorded_data
from .encoding import Encoding
from .families import family_named
from .frames import as_frame
from .links import INVERSE_LINKS
from .model_texts import censored_line, prior_text
from .names import check_names
from .new_rows import ROWS, of_same_rows, rows_key, typed_as, without_names
from .scope import scope_of
from .texts import split_formula
from .unknowns import FormulaUnknowns

__all__ = ["FormulaModel", "formula"]

# Kinds of predictions of other libraries.
_KINDS = {
    **dict.fromkeys(("epred", "fitted", "expected"), "; write kind='mean'"),
    **dict.fromkeys(("pps", "posterior", "prediction"), "; write kind='response'"),
    **dict.fromkeys(
        ("linear", "linpred", "link", "mu", "params", "response_params"),
        "; kg.predict(model, results, mu=model.parameter('mu', new)) has mu",
    ),
}


@public
class FormulaModel(Model):
    """A model that `kg.formula` made, and the encoding of its data.

    It is an ordinary model: its unknowns, data and computed arrays are `model["name"]`, and all
    functions of models take it.

    Attributes
    ----------
    formulas
        The formulas, as texts.
    family
        The name of the family.
    links
        The links of the parameters by name.
    """

    def __init__(self, model: Model, encoding: Encoding, priors: Iterable[str]) -> None:
        vars(self).update(vars(model))
        self._encoding, self._priors = encoding, tuple(priors)
        self.formulas = tuple(text.text for text in encoding.texts)
        self.family = encoding.family.name
        self.links = {name: encoding.links[name] for name in encoding.predictors}

    @property
    def priors(self) -> dict[str, str]:
        """The priors of the unknowns, as texts by name."""
        return {name: prior_text(self[name]) for name in self._priors}

    def response(
        self, new: Any = None, *, new_levels: str = "error", group_effects: bool = True
    ) -> Array:
        """The distribution of the response at the model's or new rows.

        Parameters
        ----------
        new
            A data frame or a dictionary of columns; None for the rows of the model.
        new_levels
            What effects levels get that the model's groups do not have: "error" refuses them,
            "draw" makes new unknowns with the distribution of the groups.
        group_effects
            False leaves out the effects of all groups, as for a group with effects of 0; the new
            rows need no columns of groups then.

        Returns
        -------
        Array
            A distribution that is not used elsewhere, (rows,), for `kg.predict` and so on.

        Raises
        ------
        DataError
            If a column is missing or has missing values, or a level is not among the model's.

        Examples
        --------
        >>> import kinetograph as kg
        >>> data = {"y": [1.0, 2.1, 2.9], "x": [0.0, 1.0, 2.0]}
        >>> model = kg.formula("y ~ x", data)
        >>> model.response({"x": [3.0, 4.0]}).shape
        (2,)
        """
        frame, prefix, levels = self._rows(new, new_levels, group_effects)
        first = next_serial()
        response = self._encoding.distribution(self, frame, prefix, levels)  # type: ignore[arg-type]
        return without_names(response, first)

    def parameter(
        self, name: str, new: Any = None, *, new_levels: str = "error", group_effects: bool = True
    ) -> Array:
        """A parameter of the response's distribution for each row.

        Parameters
        ----------
        name
            The name of the parameter.
        new, new_levels, group_effects
            As for `response`.

        Returns
        -------
        Array
            (rows,), or a single number if the parameter has no formula.

        Raises
        ------
        ValueError
            If the family has no such parameter.

        Examples
        --------
        >>> import kinetograph as kg
        >>> data = {"y": [1, 0, 3, 4], "x": [0.0, 1.0, 2.0, 3.0]}
        >>> model = kg.formula("y ~ x", data, family="poisson")
        >>> results = kg.mcmc(model, seed=1, draws=500, progress=False)
        >>> rate = kg.predict(model, results, rate=model.parameter("mu", {"x": [1.5]}))
        >>> rate["predictions"]["rate"].shape
        (4, 500, 1)
        """
        names = self._encoding.parameters
        if name not in names:
            raise ValueError(
                f"parameter: {name!r} is not a parameter of the family {self.family}"
                f"{place_text()}; its parameters are {', '.join(names)}{did_you_mean(name, names)}"
            )
        frame, prefix, levels = self._rows(new, new_levels, group_effects)
        first = next_serial()
        linked = self._encoding.linked(self, frame, prefix, levels)  # type: ignore[arg-type]
        value = linked[name].value
        array = value if isinstance(value, Array) else data_array(value, dims=f"{prefix}obs")
        return without_names(array, first)

    def predict(
        self,
        results: Any,
        new: Any = None,
        *,
        kind: str = "response",
        new_levels: str = "error",
        group_effects: bool = True,
        seed: Any = None,
    ) -> "DataTree":
        """Draw responses of new rows from the posterior predictive distribution.

        Parameters
        ----------
        results
            Of `kg.mcmc` or another method.
        new, new_levels, group_effects
            As for `response`. Without new rows, the observed responses are drawn again, as by
            `kg.predict(model, results)`; censored responses are drawn without the bounds.
        kind
            "response" draws responses; "mean" computes their expectations, with the name of the
            response and `_mean`. Drawn classes of new rows are values of the response's column;
            without new rows they are codes, as the observed classes are. Classes of an ordered or
            categorical response have no mean; `_mean` is then the probability of each class, with
            an axis of the classes. The mean of 0 and 1, or of two classes, is the probability of
            the second.
        seed
            As for `kg.predict`.

        Returns
        -------
        xarray.DataTree
            The results with the group `predictions`, (chain, draw, rows). Without new rows, drawn
            responses are in the group `posterior_predictive`. The rows are the dimension `obs`, or
            `new_obs` for new rows, with the labels of the data frame's index.

        Raises
        ------
        DataError
            If a column is missing or has missing values, or a level is not among the model's.
        ValueError
            If `kind` or `new_levels` is something else.

        Examples
        --------
        >>> import kinetograph as kg
        >>> data = {"y": [1.0, 2.1, 2.9, 4.2, 4.9, 6.1], "x": [0, 1, 2, 3, 4, 5]}
        >>> model = kg.formula("y ~ x", data)
        >>> results = kg.mcmc(model, seed=1, draws=500, progress=False)
        >>> results = model.predict(results, {"x": [3.0, 4.0]}, seed=1)
        >>> results["predictions"]["y"].shape
        (4, 500, 2)
        """
        if kind not in ("response", "mean"):
            raise ValueError(
                f"predict: kind must be 'response' or 'mean', got {shown(kind)}{place_text()}"
                f"{_KINDS.get(kind, '') if isinstance(kind, str) else ''}"
            )
        if isinstance(results, (pd.DataFrame, dict)) and "posterior" in getattr(
            new, "children", ()
        ):
            raise TypeError(
                f"predict: the results come first{place_text()}; write model.predict("
                f"{variable_here(new) or 'results'}, {variable_here(results) or 'new'})"
            )
        if new is None and isinstance(results, (pd.DataFrame, dict)):
            raise TypeError(
                f"predict: the results are missing{place_text()}; write model.predict(results, "
                f"{variable_here(results) or 'new'})"
            )
        name = self._encoding.response.name
        plain = new_levels == "error" and group_effects is True
        plain = plain and "cens" not in self._encoding.response.additions
        if new is None and kind == "response" and plain:
            return predict(self, results, seed=seed)
        distribution = self.response(new, new_levels=new_levels, group_effects=group_effects)
        if new is None and kind == "response":
            return replicated(self, results, {name: distribution}, seed)
        if kind == "mean":
            targets: dict[str, Any] = {f"{name}_mean": self._mean(distribution)}
        else:
            targets = {name: distribution}
        rows = "" if new is None else rows_key(as_frame(new, new=True), self._encoding.frame)
        tree = predict(self, of_same_rows(results, rows), seed=seed, **targets)
        tree["predictions"].attrs |= {ROWS: rows} if rows else {}
        levels = self._encoding.response.levels
        if kind == "mean" and self._of_classes:
            labels = {f"{name}_class": np.asarray(levels)}
            tree["predictions"].dataset = tree["predictions"].to_dataset().assign_coords(labels)
        if kind == "response" and levels is not None:
            drawn = tree["predictions"].to_dataset()
            codes = drawn[name]
            classes = codes.copy(data=np.asarray(levels)[codes.values.astype(int)])
            tree["predictions"].dataset = drawn.assign({name: classes})
        return tree

    def _check_data(self, doing: str, results: Any) -> None:
        """Refuse results of other rows than the model's.

        Means and scales of columns, levels and default priors differ between rows.
        """
        recorded, response = recorded_data(results), self._encoding.response.name
        nodes = {self.name(node): node for node in self.data}
        for names, there, model in (
            (recorded, nodes, "this model"),
            (nodes, recorded, "the results"),
        ):
            if response in recorded and (missing := names.keys() - there.keys()):
                raise DataError(
                    f"{doing}: the results are of another model{place_text()}: {min(missing)} is "
                    f"not among the data of {model}; give results of this model"
                )
        for name, node in sorted(nodes.items(), key=lambda pair: pair[0] != response):
            values = node.value, self.value_of(node)
            if name in recorded and not any(
                is_same(recorded[name].values, value) for value in values
            ):
                raise DataError(
                    f"{doing}: the results are of other values of {name} than this model has"
                    f"{place_text()}; make predictions by the model that was sampled: "
                    "model.predict(results, new)"
                )

    @property
    def _of_classes(self) -> bool:
        """Whether the response is a class among several, ordered or not."""
        return self._encoding.family.response in ("ordered", "class")

    def _mean(self, distribution: Array) -> Array:
        """The expectations of responses, or the probabilities of classes."""
        if not self._of_classes:
            law = distribution.node.distribution  # type: ignore[attr-defined]
            if law.family.moments is None:
                name = self._encoding.response.name
                raise TypeError(
                    f"predict: the mean of the response {name}, {law.family.name}, has no closed "
                    f"form{place_text()}; draw responses by model.predict(results, new), and "
                    f"average them: results['predictions'][{name!r}].mean(('chain', 'draw'))"
                )
            return expectation(distribution)
        codes = np.arange(self._encoding.response.classes)
        means = exp(log_density(distribution, codes[:, None])).T
        rows, classes = distribution.node.dims or (None,), f"{self._encoding.response.name}_class"
        means.node.dims = (*rows, classes)
        return means

    def _rows(
        self, new: Any, new_levels: str, group_effects: bool
    ) -> tuple[pd.DataFrame, str, str | None]:
        """Rows, the prefix of their names, and the rule for new levels.

        The rule is None without effects of groups.
        """
        if new_levels not in ("error", "draw"):
            raise ValueError(
                f"formula: new_levels must be 'error' or 'draw', got {shown(new_levels)}"
                f"{place_text()}"
            )
        if not isinstance(group_effects, (bool, np.bool_)):
            raise TypeError(
                f"formula: group_effects must be True or False, got {shown(group_effects)}"
                f"{place_text()}; True takes the effects of all groups, False leaves them out"
            )
        levels = new_levels if group_effects else None
        if new is None:
            changed = [n for n in self.data if not is_same(n.value, self.value_of(n))]
            if changed:
                raise ModelError(
                    f"formula: {self.name(changed[0])} was replaced by set_data, and the other "
                    f"columns of its rows are not known{place_text()}; give the rows, as in "
                    "model.parameter(name, new), or make a model of them by kg.formula"
                )
            return self._encoding.frame, "", levels
        return typed_as(as_frame(new, new=True), self._encoding.frame), "new_", levels

    def _data_hint(self, key: Any, names: Iterable[str]) -> str:
        if key not in self._encoding.frame:
            return super()._data_hint(key, names)
        return (
            f"; {key} is a column of the data frame, and the model holds it encoded: predict at "
            "other rows by model.predict(results, new), or call kg.formula with other data"
        )

    def _prior_hint(self, name: str, example: str) -> str:
        example = "kg.normal(0, 10)" if "kg.sort" in example else example
        other_parameters = tuple(f"b_{parameter}_" for parameter in [*self.links][1:])
        is_slope = name.startswith("b_") and not name.startswith(other_parameters)
        every = f", or {{'b': {example}}} for all slopes" if is_slope else ""
        return f"Give kg.formula a prior of it, such as prior={{{name!r}: {example}}}{every}"

    def __reduce__(self) -> Any:
        load, content = super().__reduce__()
        return _loaded, (load, content, self._encoding, self._priors)

    def __repr__(self) -> str:
        encoding = self._encoding
        links = ", ".join(f"{name} = {link}" for name, link in self.links.items())
        priors = self.priors
        width = max(map(len, priors), default=0)
        response, levels = encoding.response, encoding.response.levels
        lines = [
            f"formula   {self.formulas[0]}",
            *(f"          {text}" for text in self.formulas[1:]),
            *(
                [f"response  {response.name} is 1 for {levels[1]!r}, 0 for {levels[0]!r}"]
                if levels is not None and encoding.family.response == "binary"
                else []
            ),
            *censored_line(response.name, response.censored, len(encoding.frame)),
            f"family    {self.family} (links: {links}); {len(encoding.frame)} rows",
            "priors    " + "\n          ".join(f"{n:<{width}} ~ {t}" for n, t in priors.items()),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>{super()._repr_html_()}"


def _loaded(load: Any, content: tuple[Any, ...], encoding: Encoding, priors: Any) -> FormulaModel:
    """The model from the parts of a pickle."""
    return FormulaModel(load(*content), encoding, priors)


@public
def formula(
    text: str | Sequence[str],
    data: Any,
    family: str = "gaussian",
    *,
    link: str | Mapping[str, str] | None = None,
    prior: Mapping[str, Any] | None = None,
    default_priors: str = "bambi",
) -> FormulaModel:
    """Make a model from a formula and a data frame.

    Parameters
    ----------
    text
        `"response ~ terms"`, or several formulas: the first is that of the response's main
        parameter, each further one of another parameter, as in `["y ~ x", "sigma ~ z"]`. The terms
        are terms of formulaic (`a * b`, `C(a)`, `poly(x, 2)`, `bs(x, df=5)`, `cr(x, df=5)`, ...),
        effects of groups `(1 + x | g)`, and `offset(...)`, `mo(x)`, `s(x)`, `gp(x)`. The response
        may have additions: `y | trials(n)`, `weights(w)`, `cens(c)`, `trunc(low, high)`.
    data
        A pandas or polars data frame, or a dictionary of columns.
    family
        The distribution of the response, by its name in brms.
    link
        The link of the main parameter, or links by parameter.
    prior
        Distributions by the names of unknowns, `{"b_x": kg.normal(0, 1)}`, or of all unknowns of a
        kind: `b`, `Intercept`, `sd`, `cor`, `sds`.
    default_priors
        The rules of all other priors: "bambi" or "brms".

    Returns
    -------
    FormulaModel
        An ordinary model that prints its priors, with `predict` for new rows.

    Raises
    ------
    DataError
        If a column is unknown, has missing values, one level, or text where numbers are needed.
    ValueError
        If a formula cannot be read, or the family, a link, a prior or a parameter is unknown.
    TypeError
        If the formula is not a text, the data are not a data frame, or a prior is not a
        distribution.

    Examples
    --------
    >>> import kinetograph as kg
    >>> data = {"y": [1, 0, 1, 1, 0, 1], "x": [0.1, 0.4, 1.2, 0.3, 0.2, 2.0], "g": list("aabbcc")}
    >>> model = kg.formula("y ~ x + (1 | g)", data, family="bernoulli")
    >>> model.names
    ('b_x', 'Intercept', 'sd_g', 'z_g')
    """
    if prior is not None and not isinstance(prior, Mapping):
        raise TypeError(
            f"formula: prior= must be a dictionary, got {in_words(prior)}{place_text()}; write "
            "prior={'b': kg.normal(0, 1)}"
        )
    if isinstance(data, str) and not isinstance(text, str):
        raise TypeError(
            f"formula: the arguments are swapped{place_text()}; write kg.formula({data!r}, data)"
        )
    if isinstance(text, str) and isinstance(data, str) and "~" in data:
        raise TypeError(
            f"formula: two formulas by position{place_text()}; write a list of them: "
            f"kg.formula({[text, data]!r}, data)"
        )
    if isinstance(text, Mapping):
        first, *rest = text.items()
        listed = [first[1], *(t if "~" in str(t) else f"{name} ~ {t}" for name, t in rest)]
        raise TypeError(
            f"formula: the formulas are a dictionary{place_text()}; write a list, with the formula "
            f"of the response first: {listed!r}"
        )
    texts = [split_formula(t) for t in ([text] if isinstance(text, str) else list(text))]
    if not texts:
        raise ValueError(f"formula: expected at least one formula, got none{place_text()}")
    for further in texts[1:]:
        if further.additions:
            raise ValueError(
                f"formula: {further.text!r} has additions{place_text()}; write them in the first "
                "formula"
            )
    names = [t.response for t in texts[1:]]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated:
        raise ValueError(f"formula: {repeated} has two formulas{place_text()}")
    chosen = family_named(family)
    links: dict[str, Any] = dict(link) if isinstance(link, Mapping) else {chosen.main: link}
    links = {} if link is None else links
    for parameter, given in links.items():
        if not isinstance(given, str):
            word = getattr(given, "__name__", "log")
            raise TypeError(
                f"formula: the link of {parameter} is {in_words(given)}, not a text"
                f"{place_text()}; write link={word if word in INVERSE_LINKS else 'log'!r}"
            )
    frame, scope = scope_of(texts, as_frame(data))
    encoding = Encoding(texts, chosen, links, frame, scope)
    main_link = next(iter(encoding.links.values()))
    scales, parameters = encoding.response.scales(main_link), encoding.parameters
    unknowns = FormulaUnknowns(default_priors, prior or {}, scales, frame, parameters)

    def build() -> dict[str, Array]:
        encoding.declare(unknowns)
        unknowns.check_used()
        distribution = encoding.distribution(unknowns.arrays, frame, censored=True)
        distribution = encoding.response.weighted(distribution, frame)
        check_names(frame, encoding.response.name, distribution, unknowns.arrays)
        encoding.response.observe(distribution, frame)
        return {name: unknowns.arrays[name] for name in unknowns.targets}

    return FormulaModel(make_model(build), encoding, unknowns.names)
