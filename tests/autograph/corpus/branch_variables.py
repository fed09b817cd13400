"""Variables that a branch makes, variables one branch lacks, None, types that differ."""

from tests.autograph.harness import case, log


@case(1, -1)
def defined_in_both(x):
    if x > 0:
        a = 1
        b = x
    else:
        a = 2
        b = x * x
    return a + b


@case(1, -1)
def defined_before_and_in_one(x):
    i = 0
    if x > 0:
        i = 1
    return i


@case((2, 1.5), (-2, 1.5), promotes=True)
def python_float_replaced_by_an_argument(x, y):
    z = 0.0
    if x > 0:
        z = y
    return z


@case(1, staged_raises=(ValueError, r"'y' must also be initialized in the else branch"))
def only_in_the_main_branch(x):
    if x > 0:
        y = 1
    return y


@case(-1, staged_raises=(ValueError, r"'y' must also be initialized in the main branch"))
def only_in_the_else_branch(x):
    if x > 0:
        pass
    else:
        y = 1
    return y


@case(1, -1, raises=UnboundLocalError, staged=False)
def missing_when_the_branch_is_not_taken(x):
    if x > 0:
        y = 1
    return y


@case((1, True), (1, False), static=("make",), raises=UnboundLocalError)
def missing_after_a_python_if(x, make):
    if make:
        y = x + 1
    return y


@case((1, True), (1, False), static=("make",), raises=UnboundLocalError)
def missing_before_its_first_use(x, make):
    if not make:
        x = x + later  # noqa: F821
    later = 1
    return x + later


@case(1, -1)
def one_branch_only_and_not_used(x):
    y = 0
    if x > 0:
        local = x * 2
        y = local + 1
    return y


@case(1, -1)
def different_locals_in_the_branches(x):
    if x > 0:
        p = x * 2
        y = p
    else:
        q = x * 3
        y = q
    return y


@case(1, -1)
def overwritten_after_the_branch(x):
    if x > 0:
        y = 1
    y = x + 2
    return y


@case(1, -1)
def of_two_types_but_overwritten(x):
    if x > 0:
        y = "text"
    else:
        y = 3
    y = x + 2
    return y


@case((1, 2), (-1, 2))
def none_before_and_set_in_both(x, y):
    z = None
    if x > 0:
        z = y
    else:
        z = -y
    return z


@case(1, staged_raises=(ValueError, r"'y' is None at the end of the else branch"))
def none_in_the_else_branch(x):
    if x > 0:
        y = x
    else:
        y = None
    return y


@case(1, staged_raises=(ValueError, r"'y' is None at the end of the main branch"))
def none_in_the_main_branch(x):
    if x > 0:
        y = None
    else:
        y = x
    return y


@case(1, staged_raises=(ValueError, r"'y' is None at the end of the else branch"))
def none_before_and_set_in_one(x):
    y = None
    if x > 0:
        y = x
    return y


@case(1, -1)
def none_in_both(x):
    if x > 0:
        y = None
        x = x + 1
    else:
        y = None
    return x, y


@case((1, None), (1, 3))
def optional_argument(x, y):
    if y is None:
        y = 10
    return x + y


@case((1, None), (1, 5), (-1, 5))
def optional_then_symbolic(x, y):
    if y is not None and x > 0:
        x = x + y
    return x


@case((1, None), (-1, None))
def none_kept_through_a_branch(x, nothing):
    if x > 0:
        x = 2 * x
    return x, nothing is None


@case((1, 2.5), staged_raises=(TypeError, r"'y' has dtype int64.*but dtype float64"))
def types_of_arrays_differ(n, x):
    if n > 0:
        y = n
    else:
        y = x
    return y


@case((1, 2), staged_raises=(TypeError, r"'y' must have the same nested structure"))
def structures_differ(a, b):
    if a > 0:
        y = (a, b)
    else:
        y = (a, b, a)
    return y


@case((1, 2), staged_raises=(TypeError, r"'y' must have the same nested structure"))
def list_and_dict_differ(a, b):
    if a > 0:
        y = [a, b]
    else:
        y = {"a": a, "b": b}
    return y


@case((1, 2), (-1, 2))
def tuple_made_in_branches(a, b):
    if a > 0:
        pair = (a, b)
    else:
        pair = (b, a)
    return pair


@case((1, 2), (-1, 2))
def list_made_in_branches(a, b):
    if a > 0:
        items = [a, b, a + b]
    else:
        items = [b, a, a - b]
    return items


@case((1, 2), (-1, 2))
def dict_made_in_branches(a, b):
    if a > 0:
        d = {"small": a, "large": b}
    else:
        d = {"small": b, "large": a}
    return d


@case((1, 2), (-1, 2))
def nested_structure_made_in_branches(a, b):
    if a > 0:
        s = {"pair": (a, [b, a]), "one": b}
    else:
        s = {"pair": (b, [a, b]), "one": a}
    return s


@case((1, 2), (-1, 2))
def tuple_unpacked_in_branches(a, b):
    if a > 0:
        p, (q, r) = a, (b, 1)
    else:
        p, (q, r) = b, (a, 2)
    return p * 100 + q * 10 + r


@case(1, -1)
def chained_assignment(x):
    if x > 0:
        a = b = x
    else:
        a = b = -x
    b += 1
    return a, b


@case((1, 1), (1, -1), (-1, 1), (-1, -1))
def inner_branch_completes_the_outer(x, y):
    if x > 0:
        if y > 0:
            z = 1
        else:
            z = 2
    else:
        z = 3
    return z


@case(1, -1)
def argument_rebound_in_one_branch(x):
    original = x
    if x > 0:
        x = 100
    return original, x


@case(1, -1)
def read_in_a_branch_only(x):
    a = x * 2
    b = x * 3
    if x > 0:
        c = a
    else:
        c = b
    return c


@case(1, -1)
def python_list_of_the_function_is_read(x):
    weights = [2, 3]
    if x > 0:
        y = x * weights[0]
    else:
        y = x * weights[1]
    return y


@case((1, "a"), (1, "b"))
def function_chosen_in_python(x, which):
    if which == "a":
        f = lambda v: v + 1
    else:
        f = lambda v: v * 10
    return f(x)


@case(1, -1)
def boolean_made_in_branches(x):
    if x > 0:
        ok = True
    else:
        ok = False
    if ok:
        x = x + 1
    return ok, x


@case((1, 2), (-1, 2))
def named_tuple_like_result(a, b):
    if a > 0:
        low, high = a, b
    else:
        low, high = b, a
    return {"low": low, "high": high}


@case(1, -1)
def annotated_assignment(x):
    y: int
    if x > 0:
        y: int = 1
    else:
        y: int = 2
    return y


@case((1, "keep"), (1, "drop"))
def logged_before_python_branches(x, what):
    log(what)
    if what == "keep":
        log("kept")
        return x
    log("dropped")
    return -x
