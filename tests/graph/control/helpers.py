"""Shared parts of the tests of control flow: programs for the graph and for Python.

A program is a function of (ops, x, w, ...) that writes its branches and loops by `ops.cond` and
`ops.loop`. With `Plain` they are Python's own `if` and `while`, on numbers or on `Jet`s, which
carry first and second derivatives; these are the reference. With `Graph` they are nodes.
"""

import numpy as np

import kinetograph as kg
from kinetograph.graph.lower import Scope, evaluate
from kinetograph.graph.precision import x64


class Jet:
    """A number with its gradient and Hessian by inputs."""

    __array_ufunc__ = None

    def __init__(self, value, gradient, hessian):
        self.v, self.g, self.h = value, gradient, hessian

    @staticmethod
    def inputs(*values):
        n = len(values)
        return [Jet(float(v), np.eye(n)[i], np.zeros((n, n))) for i, v in enumerate(values)]

    def constant(self, value):
        if isinstance(value, Jet):
            return value
        return Jet(float(value), 0 * self.g, 0 * self.h)

    def chain(self, f, df, d2f):
        """f(self), given the derivatives of f."""
        return Jet(f, df * self.g, df * self.h + d2f * np.outer(self.g, self.g))

    def __add__(self, other):
        other = self.constant(other)
        return Jet(self.v + other.v, self.g + other.g, self.h + other.h)

    def __mul__(self, other):
        other = self.constant(other)
        cross = np.outer(self.g, other.g)
        return Jet(
            self.v * other.v,
            self.g * other.v + self.v * other.g,
            self.h * other.v + self.v * other.h + cross + cross.T,
        )

    def __truediv__(self, other):
        other = self.constant(other)
        v = np.float64(other.v)  # this divides by 0
        return self * other.chain(1 / v, -1 / v**2, 2 / v**3)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -self.constant(other)

    def __rsub__(self, other):
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __rtruediv__(self, other):
        return self.constant(other) / self

    def __float__(self):
        return self.v

    def __lt__(self, other):
        return self.v < float(other)

    def __gt__(self, other):
        return self.v > float(other)


class Plain:
    """Python's control flow, where the bound ends every loop."""

    def __init__(self, bound=None):
        self.bound = bound
        self.trips = []

    def cond(self, pred, yes, no):
        return yes() if pred else no()

    def loop(self, cond, body, variables):
        trips = 0
        while cond(*variables) and (self.bound is None or trips < self.bound):
            variables = body(*variables)
            trips += 1
        self.trips.append(trips)
        return tuple(variables)

    def scan(self, f, carry, length):
        for _ in range(length):
            carry = f(*carry)
        return carry

    def total(self, f, *columns):
        """The sum of f over rows."""
        return sum(f(*row) for row in zip(*columns))

    def sin(self, x):
        return x.chain(np.sin(x.v), np.cos(x.v), -np.sin(x.v)) if isinstance(x, Jet) else np.sin(x)

    def log(self, x):
        if not isinstance(x, Jet):
            return np.log(x)
        v = np.float64(x.v)
        return x.chain(np.log(v), 1 / v, -1 / v**2)

    def sqrt(self, x):
        if not isinstance(x, Jet):
            return np.sqrt(x)
        root = np.sqrt(np.float64(x.v))
        return x.chain(root, 0.5 / root, -0.25 / root**3)

    def where(self, pred, yes, no):
        return yes if pred else no

    def pick(self, values, place):
        return values[place]


class Graph:
    """Control flow as nodes; every loop gets the same options."""

    def __init__(self, bound=None, grad="auto"):
        self.options = {"maximum_iterations": bound, "grad": grad}

    def cond(self, pred, yes, no):
        return kg.cond(pred, yes, no)

    def loop(self, cond, body, variables):
        return kg.while_loop(cond, body, tuple(variables), **self.options)

    def scan(self, f, carry, length):
        return kg.scan(lambda c, _: (f(*c), None), tuple(carry), length=length)[0]

    def total(self, f, *columns):
        return kg.vmap(f)(*map(kg.stack, columns)).sum()

    def sin(self, x):
        return np.sin(x)

    def log(self, x):
        return np.log(x)

    def sqrt(self, x):
        return np.sqrt(x)

    def where(self, pred, yes, no):
        return kg.where(pred, yes, no)

    def pick(self, values, place):
        return kg.stack(values)[place]


# The loops of the requirements. Each is a function of (ops, x, w).
def power(ops, x, w):
    """Three trips of x *= w (W9)."""
    return ops.loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w), (0, x))[1]


def growth(ops, x, w):
    """Trips of x *= w, with a number of trips that depends on the values (W10)."""
    return ops.loop(lambda y: y < 100, lambda y: (y * w,), (x,))[0]


def wave(ops, x, w):
    """17 trips whose factors do not commute (W11)."""
    return ops.loop(lambda i, y: i < 17, lambda i, y: (i + 1, w * ops.sin(y) + 0.1 * i), (0, x))[1]


def nested(ops, x, w):
    """A loop whose inner loop's trips depend on the outer trip (W12)."""

    def outer(i, s):
        (y,) = ops.loop(lambda y: y < 10 * (i + 1), lambda y: (y * w,), (x,))
        return i + 1, s + y * (i + 1)

    return ops.loop(lambda i, s: i < 4, outer, (0, 0.0 * x))[1]


def cond_in_while(ops, x, w):
    """Six trips that take different branches (W13a)."""

    def body(i, y):
        return i + 1, ops.cond(y > 2, lambda: y / w, lambda: y * y + 1)

    return ops.loop(lambda i, y: i < 6, body, (0, x))[1]


def while_in_cond_in_while(ops, x, w):
    """Three trips; two of them have a loop inside a branch (W13b)."""

    def body(i, y):
        def inner():
            return ops.loop(lambda y: y > 0.5, lambda y: (y / w,), (y,))[0]

        return i + 1, ops.cond(y > 1, inner, lambda: y * y + 4)

    return ops.loop(lambda i, y: i < 3, body, (0, x))[1]


PROGRAMS = {
    "W9": (power, (2.0, 3.0)),
    "W10": (growth, (2.0, 1.5)),
    "W11": (wave, (0.7, 0.9)),
    "W12": (nested, (1.0, 1.5)),
    "W13a": (cond_in_while, (1.5, 3.0)),
    "W13b": (while_in_cond_in_while, (3.0, 2.0)),
}


DIRECTION = (0.6, -1.3)


# Programs inside other control flow.
def alone(program, ops, x, w):
    return program(ops, x, w)


def in_cond(program, ops, x, w):
    return ops.cond(x * w > -50, lambda: program(ops, x, w), lambda: x - w)


def beside_cond(program, ops, x, w):
    """The program in a branch that is not taken."""
    return ops.cond(x * w < -50, lambda: program(ops, x, w), lambda: x * x - w / x)


def in_while(program, ops, x, w):
    def body(i, s):
        return i + 1, s * 0.1 + program(ops, x * (1 + 0.1 * i), w)

    return ops.loop(lambda i, s: i < 3, body, (0, x))[1]


def in_scan(program, ops, x, w):
    return ops.scan(lambda i, s: (i + 1, s * 0.1 + program(ops, x + 0.1 * i, w)), (0, x), 3)[1]


def in_vmap(program, ops, x, w):
    """The program in a batch whose members make different numbers of trips."""
    return ops.total(lambda x, w: program(ops, x, w), [x, x * 1.3, x + 0.4], [w, w + 0.7, w * 1.2])


def in_vmap_in_while(program, ops, x, w):
    return in_while(lambda ops, x, w: in_vmap(program, ops, x, w), ops, x, w)


def in_while_in_vmap(program, ops, x, w):
    return in_vmap(lambda ops, x, w: in_while(program, ops, x, w), ops, x, w)


def in_cond_in_vmap(program, ops, x, w):
    """The program in a branch that only some members of a batch take."""

    def one(ops, x, w):
        return ops.cond(x > x0, lambda: program(ops, x, w), lambda: x * w)

    x0 = x * 1.001
    return in_vmap(one, ops, x, w)


def plain_derivatives(program, values, bound=None):
    """Value, gradient and Hessian of the program, computed by Python."""
    found = program(Plain(bound), *Jet.inputs(*values))
    return found.v, found.g, found.h


def derivatives(y, xs, direction=DIRECTION, every_way=True):
    """Arrays of the first and second derivatives of y, for each way to compute them."""
    slope = kg.gradients(y, xs)
    push = kg.jvp(y, xs, direction)
    first = {
        "value": [y],
        "gradients": slope,
        "jvp": [push],
        "forward over reverse": kg.jvp(slope, xs, direction),
    }
    if not every_way:
        return first
    along = sum(g * d for g, d in zip(slope, direction))
    return first | {
        "hessian": [block for row in kg.hessian(y, xs) for block in row],
        "reverse over reverse": kg.gradients(along, xs),
        "reverse over forward": kg.gradients(push, xs),
        "forward over forward": [kg.jvp(push, xs, direction)],
    }


def expected_derivatives(value, gradient, hessian, direction=DIRECTION):
    """The expected numbers for the arrays of `derivatives`."""
    direction = np.asarray(direction)
    product = hessian @ direction
    return {
        "value": [value],
        "gradients": gradient,
        "jvp": [gradient @ direction],
        "hessian": hessian.ravel(),
        "forward over reverse": product,
        "reverse over reverse": product,
        "reverse over forward": product,
        "forward over forward": [direction @ product],
    }


def check_derivatives(found, expected, rtol=1e-12, atol=1e-12):
    """Compare two dictionaries of numbers."""
    assert found.keys() <= expected.keys()
    for name, values in found.items():
        np.testing.assert_allclose(
            np.asarray(values, float), np.asarray(expected[name], float), rtol, atol, err_msg=name
        )


def compiled(inputs, named):
    """A compiled function that returns the values of a dictionary of lists of arrays."""
    flat = [array for arrays in named.values() for array in arrays]
    f = kg.compile(inputs, flat)

    def call(*values):
        results = iter(f(*values))
        return {name: [next(results) for _ in arrays] for name, arrays in named.items()}

    call.function = f
    return call


def interpreted(arrays, values):
    """The values of arrays by the interpreter, which runs loops as Python does."""
    with x64():
        environment = {array.node: np.asarray(v) for array, v in values.items()}
        nodes = [array.node for array in arrays]
        evaluate(nodes, environment, scope=Scope(eager=True))
        return [np.asarray(environment[node]) for node in nodes]
