"""The division of rows of data over devices."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import jax

from ..graph.errors import KinetographWarning, ModelError
from ..graph.messages import describe
from ..graph.node import Data
from ..graph.source import place_text, warn_user
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import shown
from ..models.model import Model
from ..models.row_blocks import BLOCKS, RowBlocks
from ..models.row_checks import ArgumentOfRows, check_rows, rows_found, rows_given
from ..models.row_unknowns import may_have_rows
from ..models.rows_one_by_one import refuse_rows_one_by_one
from .devices import devices_of
from .processes.distributed import process_count

__all__ = ["SHARDING", "Shard", "row_blocks", "row_blocks_again", "sharding_attributes"]

type Shard = Literal["rows"] | Sequence[Any] | None

ROWS, REDUCTIONS = "rows", ("tree", "fast")
SHARDING = ROWS_OF, REDUCTION = "shard", "reduction"  # attributes of results
MOST = BLOCKS // 2  # devices: with one block for each the compiler would remove the loop of blocks


def row_blocks(
    doing: str,
    model: Model,
    shard: Any,
    reduction: Any,
    devices: Any,
    method: Any,
    threads: Any,
) -> RowBlocks | None:
    """The blocks of rows of a run; None unless devices share rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid, or there are fewer rows than blocks.
    ModelError
        If the model has mini-batches, or the contribution of a row depends on other rows.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(
            f'{doing}: reduction must be "tree" or "fast", got {shown(reduction)}'
            f"{did_you_mean(reduction, REDUCTIONS) if isinstance(reduction, str) else ''}"
            f"{place_text()}"
        )
    if shard is None:
        if reduction != REDUCTIONS[0]:
            raise ValueError(
                f'{doing}: reduction="{reduction}" is for rows that devices share{place_text()}; '
                'give shard="rows", or leave it out'
            )
        return None
    if (isinstance(shard, str) and shard != ROWS) or isinstance(shard, bool):
        raise ValueError(
            f'{doing}: shard must be "rows" or a list of data arrays, got {shown(shard)}'
            f"{did_you_mean(shard, [ROWS]) if isinstance(shard, str) else ''}{place_text()}"
        )
    if method == "threads" or threads is not None:
        given = "threads=" if threads is not None else 'chain_method="threads"'
        raise ValueError(
            f"{doing}: devices that share rows evaluate all chains together{place_text()}; leave "
            f"out {given}, or run without shard="
        )
    if process_count() > 1:
        raise ValueError(
            f"{doing}: shard= divides rows over the devices of one process, and this run has "
            f"{process_count()} processes{place_text()}; start one process, or, in a new run, "
            "leave out shard=: each process then runs some of the chains"
        )
    by = ArgumentOfRows(doing, "shard")
    if model.batch is not None:
        raise ModelError(
            f"{doing}: the model sees mini-batches of rows, and shard= divides all rows"
            f"{place_text()}; give the model without kg.minibatch, or leave out shard="
        )
    if model.component.discrete:
        names = ", ".join(model.name(v) for v in model.component.discrete)
        raise ModelError(
            f"{doing}: {names} is marginalised over all rows together{place_text()}; write a "
            "mixture instead (kg.mixture), whose rows are independent, or leave out shard="
        )
    refuse_rows_one_by_one(model, doing)
    named = isinstance(shard, str)
    rows = rows_found(model, by) if named else rows_given(model, shard, by)
    if rows[0].shape[0] < BLOCKS:
        raise ValueError(
            f"{doing}: shard= divides rows into {BLOCKS} blocks, and {describe(rows[0])} has "
            f"{rows[0].shape[0]} rows{place_text()}; leave out shard="
        )
    blocks = _checked(model, rows, _shared(doing, devices), reduction == "fast", by)
    if all(term.compressed is not None for term in blocks.terms):
        names = ", ".join(describe(t.target) for t in blocks.terms if t.target is not None)
        warn_user(
            f"{doing}: shard= has no effect: the likelihood of {names} is computed from sums over "
            "the rows, which are computed once before the run",
            KinetographWarning,
        )
        return None
    return blocks


def _checked(
    model: Model, rows: list[Data], devices: tuple[Any, ...], is_fast: bool, by: ArgumentOfRows
) -> RowBlocks:
    """The blocks of rows, with rows of unknowns if needed."""
    try:
        blocks = RowBlocks(model, rows, devices, is_fast)
        check_rows(model, blocks, by)
    except ModelError:
        members = may_have_rows(model.density, rows[0].shape[0])
        if not members:
            raise
        blocks = RowBlocks(model, rows, devices, is_fast, members)
        check_rows(model, blocks, by)
    return blocks


def row_blocks_again(
    doing: str, model: Model, attributes: Mapping[str, Any], devices: Any, threads: Any
) -> RowBlocks | None:
    """The blocks of a run that is continued, from its attributes."""
    if ROWS_OF not in attributes:
        return None
    names = json.loads(attributes[ROWS_OF])
    return row_blocks(doing, model, names, attributes[REDUCTION], devices, None, threads)


def sharding_attributes(model: Model, blocks: RowBlocks | None) -> dict[str, str]:
    """The attributes of results by which the run can be continued."""
    if blocks is None:
        return {}
    names = [model.name(node) for node in blocks.rows if node in model.data]
    return {ROWS_OF: json.dumps(names or ROWS), REDUCTION: REDUCTIONS[int(blocks.is_fast)]}


def _shared(doing: str, given: Any) -> tuple[Any, ...]:
    """The devices that share rows; by default as many as possible."""
    if given is None:
        devices = tuple(jax.local_devices())
        return devices[: min(1 << (len(devices).bit_length() - 1), MOST)]
    devices = devices_of(doing, given)
    count = len(devices)
    if count & (count - 1) or count > MOST:
        fitting = min(1 << (count.bit_length() - 1), MOST)
        raise ValueError(
            f"{doing}: the number of devices that share rows must be a power of two up to {MOST}, "
            f"so that sums do not depend on it, got {count}{place_text()}; give devices={fitting}"
        )
    return devices
