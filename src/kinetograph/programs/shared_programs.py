"""Programs of several devices, which round as programs of one device do.

XLA simplifies a program for several devices in another order: it computes repeated values once at
the beginning, and it does not know constants that are operands of the part that devices share. Then
it divides, for example, where the program of one device multiplies by an inverse. So repeated
values and these operands are replaced before XLA begins, for one device and for several.
"""

from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

__all__ = ["simplified"]

_SHARED, _CONSTANT = "sdy.manual_computation", "stablehlo.constant"


def simplified(lowered: Any) -> Any:
    """A lowered program, simplified in place."""
    module = lowered.compiler_ir()
    with module.context, ir.Location.unknown():
        module.operation.walk(_with_constants)
        PassManager.parse("builtin.module(inline,cse)").run(module.operation)
    return lowered


def _with_constants(operation: Any) -> Any:
    """Put constant operands of the part that devices share into the part."""
    if operation.name == _SHARED:
        (block,) = operation.regions[0].blocks
        place = ir.InsertionPoint.at_block_begin(block)
        for operand, inner in zip(operation.operands, block.arguments, strict=True):
            constant = _copied(operand, place)
            if constant is not None:
                inner.replace_all_uses_with(constant)
    return ir.WalkResult.ADVANCE


def _copied(value: Any, place: Any) -> Any:
    """A copy of a value that is computed from constants, or None."""
    operation = value.owner
    if not isinstance(operation, (ir.Operation, ir.OpView)) or operation.regions:
        return None
    if operation.name != _CONSTANT and not operation.operands:
        return None
    operands = [_copied(operand, place) for operand in operation.operands]
    if any(operand is None for operand in operands):
        return None
    copy = operation.operation.clone(place)
    for i, operand in enumerate(operands):
        copy.operands[i] = operand
    return copy.results[ir.OpResult(value).result_number]
