"""A formula as text, split into the parts that are encoded differently.

    response | additions ~ population terms + (effects | group) + offset(...) + mo(...) + s(...)

The text is split into tokens by formulaic. Summands of group effects and the calls of `SPECIAL` are
taken out; the other summands are population terms, and remain a formula of formulaic. There the
calls of `MULTIPLIED` are names in backticks, because they have interactions with columns.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from formulaic.errors import FormulaicError
from formulaic.parser.algos.sanitize_tokens import sanitize_tokens
from formulaic.parser.algos.tokenize import tokenize
from formulaic.parser.types import Token

from ..graph.errors import KinetographWarning
from ..graph.source import place_text, warn_user
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import shown

__all__ = ["FormulaCall", "FormulaText", "GroupText", "call_of", "reason_of", "split_formula"]

SPECIAL = ("offset", "gp", "s")  # calls outside of the design matrix
MULTIPLIED = ("mo",)  # calls in the design matrix whose effect is not linear
ADDITIONS = ("trials", "weights", "cens", "trunc")
_ELSEWHERE = {
    "t2": "a smooth function of two columns is gp(x, z)",
    "te": "a smooth function of two columns is gp(x, z)",
    "me": "measurement errors are a model of their own: write the true values as unknowns, x = "
    "kg.normal(mean, sd, shape=n), and observe the measured ones, kg.normal(x, error)",
    "mi": 'formulas have no missing values: write the model with kg.data(..., missing="impute")',
    "ar": "formulas have no series: write the model with kg.ar",
    "hsgp": "a Gaussian process is gp(x, k=..., c=...)",
    "ns": "natural cubic splines are cr(x, df=...)",
}
_NO_ADDITIONS = {
    "mi": _ELSEWHERE["mi"],
    "se": "known standard errors are a formula, ['y ~ ...', 'sigma ~ 0 + offset(log(error))']",
}
_NO_ADDITIONS |= {
    "rate": "a count per unit of x has the term offset(log(x)) in a family with a log link",
    "subset": "select the rows of the data frame before",
}
_VARYING = {  # in place of calls in effects of groups
    "": "effects of groups are columns, as in (1 + x | g)",
    "mo": "write '+ mo(...) + (1 | g)', or slopes of the codes of the levels, as in (codes | g)",
    "offset": "an offset is a summand of its own, '+ offset(...)'",
}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # of a terminal, in formulaic's messages
_METHODS = re.compile(r"[\w.]+\([^()]*\)(?:\.\w+\([^()]*\))+")  # each of the result of another
_OPERATORS = re.compile(r"\|\||\*\*|.")


@dataclass(frozen=True)
class FormulaCall:
    """A call in a formula: `gp(x, k=20)`."""

    function: str
    text: str
    positional: tuple[str, ...]
    named: dict[str, str]


@dataclass(frozen=True)
class GroupText:
    """Effects that vary between groups: `(effects | group)`; `||` for uncorrelated effects."""

    effects: str
    group: str
    correlated: bool

    def __str__(self) -> str:
        return f"({self.effects} {'|' if self.correlated else '||'} {self.group})"


@dataclass(frozen=True)
class FormulaText:
    """One formula; `response` is the response or a parameter."""

    text: str
    response: str
    additions: dict[str, FormulaCall]
    population: str
    groups: tuple[GroupText, ...]
    calls: tuple[FormulaCall, ...]
    multiplied: dict[str, FormulaCall]


def split_formula(text: Any) -> FormulaText:
    """Split a formula into its parts.

    Raises
    ------
    TypeError
        If the formula is not a text.
    ValueError
        If it has no response, or group effects or special calls inside of other terms.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"formula: a formula is a text such as 'y ~ x + (1 | g)', got {shown(text)}"
            f"{place_text()}"
        )
    tokens = _tokens(text)
    tildes = [i for i, _ in _outside(tokens) if tokens[i].token == "~"]
    parts = [part.strip() for part in re.split(r"[,;\n]", text)]
    if len(parts) > 1 and all(part.count("~") == 1 for part in parts):
        raise ValueError(
            f"formula: {text!r} has several formulas in one text{place_text()}; write a list: "
            f"{parts!r}"
        )
    if len(tildes) != 1 or not tildes[0]:
        raise ValueError(
            f"formula: {text!r} must have one response and one '~'{place_text()}; write it as "
            "'y ~ x + (1 | g)'"
        )
    left, right = tokens[: tildes[0]], tokens[tildes[0] + 1 :]
    if not right:
        raise ValueError(
            f"formula: {text!r} has no terms{place_text()}; an intercept alone is '~ 1'"
        )
    for side, end in ((left, "'~' in"), (right, "the end of")):
        if side[-1].kind is Token.Kind.OPERATOR and side[-1].token != ".":
            raise ValueError(
                f"formula: a term is missing between {side[-1].token!r} and {end} {text!r}"
                f"{place_text()}; write the term, or leave the sign out"
            )
    response, additions = _left(left, text)
    population: list[str] = []
    groups: list[GroupText] = []
    calls: list[FormulaCall] = []
    multiplied: dict[str, FormulaCall] = {}
    for sign, summand in _summands(right):
        group = _group(summand, text)
        call = call_of(summand[0].token) if len(summand) == 1 and _is_call(summand[0]) else None
        taken_out = group or (call is not None and call.function in SPECIAL)
        if taken_out and sign == "-":
            raise ValueError(
                f"formula: {text!r} subtracts {_source(summand)}{place_text()}; leave the term out"
            )
        if group:
            groups.append(group)
        elif call is not None and call.function in SPECIAL:
            calls.append(call)
        else:
            _check_population(summand, text)
            _warn_of_power(summand, text)
            population.append(f"{sign} {_quoted(summand, multiplied)}")
    terms = " ".join(population).removeprefix("+ ") or "1"
    return FormulaText(text, response, additions, terms, tuple(groups), tuple(calls), multiplied)


def call_of(text: str) -> FormulaCall | None:
    """The call that a Python expression is, or None."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        return None
    named = {k.arg: ast.unparse(k.value) for k in tree.keywords if k.arg}
    return FormulaCall(tree.func.id, text, tuple(map(ast.unparse, tree.args)), named)


def _tokens(text: str) -> list[Token]:
    """The tokens of formulaic, with one operator each."""
    tokens: list[Token] = []
    try:
        for token in sanitize_tokens(tokenize(text)):
            if token.kind is not Token.Kind.OPERATOR:
                tokens.append(token)
                continue
            for match in _OPERATORS.finditer(token.token):
                start = (token.source_start or 0) + match.start()
                place = {"source_start": start, "source_end": start + len(match[0]) - 1}
                tokens.append(token.copy_with_attrs(token=match[0], **place))
    except FormulaicError as error:
        raise ValueError(
            f"formula: {text!r} cannot be read{place_text()}: {reason_of(error, text)}"
        ) from None
    except SyntaxError as error:
        negated = re.search(r"!(?!=)\s*(\w+)", text)
        way = f"; for '{negated[0]}' write '1 - {negated[1]}'" if negated else ""
        if text.strip().startswith(("bf(", "brmsformula(")):
            way = "; write a list of formulas: ['y ~ x', 'sigma ~ x']"
        if "as.factor(" in text:
            way = "; a column of numbers as categories is C(x)"
        if methods := _METHODS.search(text):
            way = f"; write I({methods[0]})"
        raise ValueError(
            f"formula: {text!r} cannot be read{place_text()}: {(error.text or '').strip()!r} is "
            f"not an expression of Python{way}"
        ) from None
    return tokens


def reason_of(error: Exception, text: str = "") -> str:
    """The text of an error of formulaic in one line."""
    reason = " ".join(_COLOURS.sub("", str(error)).split())
    if "Unknown operator ','" in reason:
        reason += "; an offset is a summand, '+ offset(x)', and more formulas are a list"
    comparison = re.search(r"[\w.]+\s*(?:[=!<>]=|[<>])\s*[\w.'\"]+", text)
    if "Unknown operator" in reason and comparison:
        return f"a comparison is not a term; write I({comparison[0].strip()})"
    if "numerical scaling" in reason or "when scaling" in reason:
        product = re.search(r"[\w.]+\s*[*/]\s*[\d.]+|[\d.]+\s*[*/]\s*[\w.]+", text)
        return f"a number does not multiply a term; write I({product[0] if product else '2 * x'})"
    if operands := re.search(r"[\w.]+\s*%\s*[\w.]+", text):
        return f"% is not an operator of terms; write I({operands[0]})"
    if "matching context marker" in reason and text.count("(") != text.count(")"):
        return f"a '{')' if text.count('(') > text.count(')') else '('}' is missing"
    return reason.replace("insuffient", "insufficient")


def _outside(tokens: list[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens outside of all brackets, with their indices."""
    depth = 0
    for i, token in enumerate(tokens):
        if token.kind is Token.Kind.CONTEXT:
            depth += 1 if token.token in "([{" else -1
        elif not depth:
            yield i, token


def _summands(tokens: list[Token]) -> Iterator[tuple[str, list[Token]]]:
    """The summands with their signs."""
    sign, start = "+", 0
    for i, token in [*_outside(tokens), (len(tokens), None)]:
        if token is not None and token.token not in ("+", "-"):
            continue
        if start < i:
            yield sign, tokens[start:i]
            sign = "+"
        if token is not None and token.token == "-":
            sign = "-" if sign == "+" else "+"
        start = i + 1


def _source(tokens: list[Token]) -> str:
    """The text that tokens were made from."""
    first, last = tokens[0], tokens[-1]
    assert first.source is not None
    end = (last.source_end or 0) + 1
    closing = {"`": "`", "{": "}"}.get(first.source[last.source_start or 0])
    if closing and first.source[end : end + 1] == closing:  # quotes do not belong to the token
        end += 1
    return first.source[first.source_start : end]


def _quoted(tokens: list[Token], multiplied: dict[str, FormulaCall]) -> str:
    """The text of a summand, with calls of `MULTIPLIED` in backticks.

    These calls are added to `multiplied`.
    """
    source, start = _source(tokens), tokens[0].source_start or 0
    for token in reversed(tokens):
        call = call_of(token.token) if _is_call(token) else None
        if call is None or call.function not in MULTIPLIED:
            continue
        named = [f"{name}={value}" for name, value in call.named.items()]
        name = f"{call.function}({', '.join([*call.positional, *named])})"
        multiplied[name] = call
        first, last = (token.source_start or 0) - start, (token.source_end or 0) - start
        source = f"{source[:first]}`{name}`{source[last + 1 :]}"
    return source


def _is_call(token: Token) -> bool:
    return token.kind is Token.Kind.PYTHON


def _left(tokens: list[Token], text: str) -> tuple[str, dict[str, FormulaCall]]:
    """The response and its additions."""
    bars = [i for i, token in _outside(tokens) if token.token == "|"]
    if not bars:
        return _response(tokens), {}
    additions: dict[str, FormulaCall] = {}
    for _, summand in _summands(tokens[bars[0] + 1 :]):
        written = _source(summand)
        call = call_of(written)
        if call is None or call.function not in ADDITIONS:
            word = written if call is None else call.function
            names = f"the additions are {', '.join(f'{a}(...)' for a in ADDITIONS)}"
            advice = _NO_ADDITIONS.get(word) or f"{names}{did_you_mean(word, ADDITIONS)}"
            raise ValueError(
                f"formula: {written!r} is not an addition to the response in {text!r}"
                f"{place_text()}; {advice}"
            )
        additions[call.function] = call
    return _response(tokens[: bars[0]]), additions


def _response(tokens: list[Token]) -> str:
    """The text of the response, for a name in backticks without them."""
    is_name = len(tokens) == 1 and tokens[0].kind is Token.Kind.NAME
    return tokens[0].token if is_name else _source(tokens)


def _group(tokens: list[Token], text: str) -> GroupText | None:
    """The group effects that a summand is, or None."""
    first, last = tokens[0], tokens[-1]
    if first.token != "(" or last.token != ")":
        return None
    inner = tokens[1:-1]
    bars = [i for i, token in _outside(inner) if token.token in ("|", "||")]
    if not bars:
        return None
    if len(bars) > 1 or not bars[0] or bars[0] == len(inner) - 1:
        raise ValueError(
            f"formula: {_source(tokens)} in {text!r} must have effects and one group"
            f"{place_text()}; write it as (1 + x | g)"
        )
    effects, group = inner[: bars[0]], inner[bars[0] + 1 :]
    for token in effects:
        call = call_of(token.token) if _is_call(token) else None
        if call is not None and call.function in (*SPECIAL, *MULTIPLIED, *_ELSEWHERE):
            raise ValueError(
                f"formula: {call.text} in {_source(tokens)} cannot vary between groups"
                f"{place_text()}; {_VARYING.get(call.function, _VARYING[''])}"
            )
    return GroupText(_source(effects), _source(group), inner[bars[0]].token == "|")


def _warn_of_power(tokens: list[Token], text: str) -> None:
    """Warn of `x**2`, which is x, as powers of terms are interactions."""
    for before, sign, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        single = before.kind in (Token.Kind.NAME, Token.Kind.PYTHON)
        if single and sign.token in ("**", "^") and after.kind is Token.Kind.VALUE:
            name, number = before.token, after.token
            warn_user(
                f"formula: {name}{sign.token}{number} in {text!r} is only {name}{place_text()}: a "
                f"power of terms is their interactions, and a term has none with itself; write "
                f"I({name}**{number}) for the power",
                KinetographWarning,
            )


def _unclosed(tokens: list[Token]) -> str:
    """A hint at a bracket that is not closed."""
    marks = [token.token for token in tokens]
    return "a ')' is missing; " if marks.count("(") > marks.count(")") else ""


def _check_population(tokens: list[Token], text: str) -> None:
    """Raise ValueError for group effects and special calls inside of population terms."""
    for token in tokens:
        if token.kind is Token.Kind.OPERATOR and token.token in ("|", "||"):
            raise ValueError(
                f"formula: {_source(tokens)} in {text!r} has a '|' outside of a summand of its own"
                f"{place_text()}; {_unclosed(tokens)}write group effects as '+ (1 + x | g)'"
            )
        call = call_of(token.token) if _is_call(token) else None
        if call is None:
            continue
        if call.function in SPECIAL:
            way_out = f"write it as '+ {call.text}'"
            if call.function in ("gp", "s") and "by" not in call.named:
                other = f"{call.text.rstrip(') ')}, by=z)"
                way_out += f", or '+ {other}' for a function that depends on z"
            raise ValueError(
                f"formula: {call.text} in {text!r} must be a summand of its own{place_text()}; "
                f"{way_out}"
            )
        if call.function in _ELSEWHERE:
            raise ValueError(
                f"formula: {call.text} in {text!r} is not available{place_text()}; "
                f"{_ELSEWHERE[call.function]}"
            )
