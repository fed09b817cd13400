"""`match`: symbolic subjects with literals and guards; every pattern on Python values."""

import dataclasses

from tests.autograph.harness import case, log


@dataclasses.dataclass
class Point:
    """A point with positional patterns."""

    x: object
    y: object


class Circle:
    """A class whose patterns are by keyword."""

    def __init__(self, r):
        self.r = r


class Colour:
    """Names with dots, which patterns read as values."""

    RED = 1
    GREEN = 2


@case(1, 2, 3)
def literals(x):
    match x:
        case 1:
            y = 10
        case 2:
            y = 20
        case _:
            y = 0
    return y


@case(1, 2, 3)
def literals_with_returns(x):
    match x:
        case 1:
            return 10
        case 2:
            return 20
        case _:
            return 0


@case(1, 2, 3, 5)
def alternatives(x):
    match x:
        case 1 | 2:
            y = 10
        case 3 | 4:
            y = 20
        case _:
            y = 0
    return y


@case(-1, 0, 7)
def negative_literals(x):
    match x:
        case -1:
            y = 1
        case 0:
            y = 2
        case _:
            y = 3
    return y


@case(0.5, 1.5, 9.0)
def float_literals(x):
    match x:
        case 0.5:
            y = 1.0
        case 1.5:
            y = 2.0
        case _:
            y = x
    return y


@case((True,), (False,))
def boolean_comparison(flag):
    match flag == True:  # noqa: E712
        case value if value:
            return 1
        case _:
            return 0


@case(1, 2, 3)
def dotted_names(x):
    match x:
        case Colour.RED:
            y = 100
        case Colour.GREEN:
            y = 200
        case _:
            y = 0
    return y


@case(3, 30, -5)
def guards(x):
    match x:
        case _ if x < 0:
            y = -1
        case _ if x < 10:
            y = 0
        case _:
            y = 1
    return y


@case((1, 5), (1, -5), (2, 5))
def literal_with_a_guard(x, z):
    match x:
        case 1 if z > 0:
            y = 10
        case 1:
            y = 20
        case _:
            y = 30
    return y


@case((1, 5), (2, -5), (3, 5), (2, 5))
def alternatives_with_a_guard(x, z):
    match x:
        case 1 | 2 if z > 0:
            y = 10
        case 2 | 3:
            y = 20
        case _:
            y = 30
    return y


@case(1, 2, 3)
def without_a_default(x):
    y = 5
    match x:
        case 1:
            y = 10
        case 2:
            y = 20
    return y


@case((1, 1), (1, 2), (2, 1))
def nested(a, b):
    match a:
        case 1:
            match b:
                case 1:
                    return 11
                case _:
                    return 12
        case _:
            return 20


@case(6, 0)
def in_a_loop(n):
    s, i = 0, 0
    while i < n:
        match i % 3:
            case 0:
                s += 1
            case 1:
                s += 10
            case _:
                s += 100
        i += 1
    return s


@case((6, 2), (6, 9))
def break_in_a_match_in_a_loop(n, k):
    i = 0
    while i < n:
        match i - k:
            case 0:
                break
            case _:
                i += 1
    return i


@case((6, 2), (6, 9))
def continue_in_a_match_in_a_loop(n, k):
    s, i = 0, 0
    while i < n:
        i += 1
        match i - k:
            case 0:
                continue
            case _:
                pass
        s += i
    return s


@case((6, 2), (6, 9))
def return_in_a_match_in_a_loop(n, k):
    i = 0
    while i < n:
        match i - k:
            case 0:
                return i * 10
            case _:
                i += 1
    return i


@case((3, "double"), (3, "negate"), (3, "other"))
def strings(x, what):
    match what:
        case "double":
            return 2 * x
        case "negate":
            return -x
        case _:
            return x


@case((3, None), (3, 4))
def none_pattern(x, y):
    match y:
        case None:
            return x
        case _:
            return x + 1


@case((3, "a"), (3, "bb"))
def capture(x, what):
    match what:
        case "a":
            return x
        case other:
            return x * len(other)


@case((3, 1), (3, 4), static=("k",))
def capture_with_a_guard(x, k):
    match k:
        case n if n > 2:
            return x * n
        case n:
            return x + n


@case(((1, 2),), ((5, 7),))
def sequence_of_symbols(pair):
    match pair:
        case (a, b):
            return a * 10 + b


@case((3, ["go", "north"]), (3, ["stop"]), (3, ["go", "x", "y"]), (3, []))
def sequences(x, words):
    match words:
        case []:
            return 0
        case ["stop"]:
            return -x
        case ["go", direction]:
            return x * len(direction)
        case ["go", *rest]:
            return x + len(rest)
    return 1


@case(((1, 2, 3, 4),), ((1, 2),))
def starred_sequence(items):
    match items:
        case (first, second):
            return first + second
        case (first, *middle, last):
            return first * last + len(middle)


@case(({"kind": "a", "v": 1},), ({"kind": "b", "w": 2},), ({"kind": "c"},))
def mappings(d):
    match d:
        case {"kind": "a", "v": v}:
            return v + 1
        case {"kind": "b", **rest}:
            return rest["w"] * 2
        case {"kind": kind}:
            return len(kind)


@case((1, 2), (0, 2), (3, 0))
def class_with_positions(a, b):
    match Point(a, b):
        case Point(x, y):
            return x * 10 + y


@case((5, "point"), (5, "circle"), (5, "none"))
def classes(v, kind):
    shape = {"point": Point(v, 1), "circle": Circle(v), "none": None}[kind]
    match shape:
        case Point(x=x, y=1):
            return x
        case Circle(r=r):
            return r * r
        case None:
            return 0


@case((1, "int"), (1, "str"))
def types_as_patterns(x, kind):
    match {"int": 3, "str": "abc"}[kind]:
        case int():
            return x
        case str() as text:
            return x + len(text)


@case((1, ("a", 2)), (1, ("b", 3)))
def as_pattern(x, pair):
    match pair:
        case ("a" as name, n):
            return x + n + len(name)
        case (_, _) as whole:
            return x - len(whole)


@case((1, "p"), (-1, "p"), (1, "q"), (-1, "q"))
def symbolic_branch_in_a_python_case(x, key):
    match key:
        case "p":
            if x > 0:
                y = x + 1
            else:
                y = x - 1
        case _:
            y = 0 * x
    return y


@case((1, "p"), (-1, "p"), (1, "q"), (-1, "q"))
def python_match_in_a_symbolic_branch(x, key):
    y = 0
    if x > 0:
        match key:
            case "p":
                y = 1
            case _:
                y = 2
    return y


@case(("a",), ("b",), ("c",))
def subject_is_evaluated_once(s):
    match log(s):
        case "a":
            log("first")
        case "b":
            log("second")
        case _:
            log("none")
    return len(s)


@case((1, 2), staged_raises=(Exception, ""))
def class_pattern_on_an_array(x, y):
    match x:
        case int():
            return y
        case _:
            return -y
