"""Programs of several devices before XLA compiles them."""

import pytest
from jax.interpreters import mlir
from jaxlib.mlir import ir

from kinetograph.programs.shared_programs import simplified

# jit(shard_map(lambda x: sin(x) * table / (1 + sin(x)))) on two devices
SHARED = """
module @f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["rows"=2]>
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>) {
    %cst = stablehlo.constant dense<[2.0, 3.0, 7.0]> : tensor<3xf32>
    %neg = stablehlo.negate %cst : tensor<3xf32>
    %0 = sdy.manual_computation(%neg, %arg0) in_shardings=[<@mesh, [{}]>, <@mesh, [{}]>]
        out_shardings=[<@mesh, [{}]>] manual_axes={"rows"}
        (%arg1: tensor<3xf32>, %arg2: tensor<3xf32>) {
      %1 = stablehlo.sine %arg2 : tensor<3xf32>
      %2 = stablehlo.multiply %1, %arg1 : tensor<3xf32>
      %3 = stablehlo.sine %arg2 : tensor<3xf32>
      %4 = stablehlo.add %2, %3 : tensor<3xf32>
      sdy.return %4 : tensor<3xf32>
    } : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""


class Lowered:
    """A lowered program, as `jax.jit(...).lower` returns it."""

    def __init__(self) -> None:
        with mlir.make_ir_context():
            self.module = ir.Module.parse(SHARED)

    def compiler_ir(self):
        return self.module

    @property
    def shared_part(self) -> str:
        return str(self.module).split("sdy.manual_computation")[1]


@pytest.fixture
def program() -> Lowered:
    return Lowered()


def test_constant_operands_are_known_in_the_shared_part(program):
    assert "stablehlo.constant" not in program.shared_part
    part = simplified(program).shared_part
    assert "dense<[2.000000e+00, 3.000000e+00, 7.000000e+00]>" in part
    assert part.count("stablehlo.negate") == 1
    assert part.startswith("(%arg0)")  # the only operand that is left


def test_repeated_values_are_computed_once(program):
    assert program.shared_part.count("stablehlo.sine") == 2
    assert simplified(program).shared_part.count("stablehlo.sine") == 1
