"""Attributes, dictionary items and list items that branches and loops change."""

import dataclasses

from tests.autograph.harness import case

import kinetograph as kg


class Box:
    """Something with attributes."""

    def __init__(self, **values):
        self.__dict__.update(values)


@dataclasses.dataclass
class Pair:
    """Two numbers."""

    a: object
    b: object


@case(1, -1)
def attribute_in_a_branch(x):
    box = Box(b=x)
    if box.b < 0:
        box.b = -box.b
    return box.b


@case(1, -1)
def attribute_in_both_branches(x):
    box = Box(b=0)
    if x > 0:
        box.b = x + 1
    else:
        box.b = x - 1
    return box.b


@case(1, staged_raises=(ValueError, r"'box\.new' must also be initialized in the else branch"))
def attribute_made_in_one_branch(x):
    box = Box()
    if x > 0:
        box.new = x
    return box.new


@case(1, -1)
def attribute_made_in_both_branches(x):
    box = Box()
    if x > 0:
        box.new = x
    else:
        box.new = 2 * x
    return box.new


@case(1, -1)
def attribute_of_an_attribute(x):
    box = Box(inner=Box(n=5))
    if x > 0:
        box.inner.n = box.inner.n + x
    return box.inner.n


@case((1, 2), (-1, 2))
def two_attributes(x, y):
    box = Box(p=x, q=y)
    if x > 0:
        box.p, box.q = box.q, box.p
    else:
        box.p += 1
    return box.p, box.q


@case(5, 0, -1)
def attribute_in_a_while(n):
    box = Box(total=0, i=n)
    while box.i > 0:
        box.total = box.total + box.i
        box.i = box.i - 1
    return box.total, box.i


@case([1, 2, 3], [4, 5, -6])
def attribute_in_a_for(v):
    box = Box(total=0)
    for x in v:
        box.total += x
    return box.total


@case(1, -1)
def dict_item_in_a_branch(x):
    d = {"k": x, "other": 3}
    if d["k"] < 0:
        d["k"] = -d["k"]
    return d


@case(1, -1)
def dict_item_in_both_branches(x):
    d = {"a": 0, "b": 0}
    if x > 0:
        d["a"] = x
    else:
        d["b"] = x
    return d["a"], d["b"]


@case(1, -1)
def dict_item_made_in_both_branches(x):
    d = {}
    if x > 0:
        d["new"] = x
    else:
        d["new"] = -x
    return d["new"]


@case(4, 0)
def dict_item_in_a_while(n):
    d = {"i": 0, "sum": 0}
    while d["i"] < n:
        d["sum"] += d["i"]
        d["i"] += 1
    return d


@case(4, 0)
def dict_argument_style_counter(n):
    state = {"count": 0}
    for i in kg.range(n):
        if i % 2 == 0:
            state["count"] = state["count"] + 1
    return state["count"]


@case(1, -1)
def list_item_in_a_branch(x):
    items = [x, 2]
    if items[0] < 0:
        items[0] = -items[0]
    return items


@case(1, -1)
def list_items_in_both_branches(x):
    items = [0, 0, 0]
    if x > 0:
        items[0] = x
    else:
        items[2] = x
    return items


@case(1, -1)
def negative_list_index(x):
    items = [1, 2, 3]
    if x > 0:
        items[-1] = 30
    return items


@case(3, 0)
def list_item_in_a_while(n):
    items = [0, 1]
    i = 0
    while i < n:
        items[0] = items[0] + items[1]
        items[1] = items[1] * 2
        i += 1
    return items


@case((1, 2), (-1, 2))
def item_of_a_nested_list(x, y):
    grid = [[x, 0], [0, y]]
    if x > 0:
        grid[0][1] = 7
        grid[1][0] = y
    return grid


@case((1, 2), (-1, 2))
def dict_in_a_list(x, y):
    items = [{"v": x}, {"v": y}]
    if x > 0:
        items[1]["v"] = x + y
    return items[1]["v"]


@case((1, 2), (-1, 2))
def list_in_a_dict(x, y):
    d = {"v": [x, y]}
    if x > 0:
        d["v"][0] = y
    return d["v"]


@case((1, 2), staged_raises=(kg.StagingError, "'boxes' is modified inside a staged"))
def attribute_of_a_list_item(x, y):
    boxes = [Box(n=x), Box(n=y)]
    if x > 0:
        boxes[0].n = boxes[1].n
    return boxes[0].n, boxes[1].n


@case((1, 2), (-1, 2))
def item_of_an_attribute(x, y):
    box = Box(items=[x, y])
    if x < y and x > 0:
        box.items[1] = 0
    return box.items


@case((1, 2), (-1, 2))
def dataclass_attributes(x, y):
    pair = Pair(x, y)
    if pair.a > 0:
        pair.b = pair.a + pair.b
    return pair.a, pair.b


class Counter:
    """Methods that change `self`."""

    def __init__(self, start):
        self.value = start
        self.history = {"ups": 0}

    def step(self, up):
        if up > 0:
            self.value = self.value + up
            self.history["ups"] += 1
        else:
            self.value = self.value - 1

    def run(self, n):
        while n > 0:
            self.value = self.value * 2
            n = n - 1
        return self.value


@case(1, -1)
def self_in_a_method(x):
    counter = Counter(10)
    counter.step(x)
    counter.step(-x)
    return counter.value, counter.history["ups"]


@case((1, 3), (2, 0))
def self_in_a_loop(start, n):
    counter = Counter(start)
    return counter.run(n)


@case(1, -1)
def two_names_of_one_object(x):
    box = Box(n=1)
    alias = box
    if x > 0:
        box.n = 5
    return alias.n


@case((1, 0), (1, 1), (-1, 0), static=("k",))
def item_by_a_python_variable(x, k):
    items = [10, 20]
    if x > 0:
        items[k] = x
    return items


@case((1, "p"), (1, "q"), (-1, "p"))
def item_by_a_string_variable(x, key):
    d = {"p": 1, "q": 2}
    if x > 0:
        d[key] = d[key] + x
    return d


@case(1, -1)
def attribute_and_plain_variable(x):
    box = Box(n=x)
    n = 0
    if x > 0:
        n = box.n + 1
        box.n = n
    return box.n, n


@case((2, 3), (0, 3))
def attribute_in_a_loop_in_a_branch(n, x):
    box = Box(acc=1)
    if x > 0:
        i = 0
        while i < n:
            box.acc = box.acc * x
            i += 1
    return box.acc


@case((2, 3), (2, 0), (0, 3))
def attribute_in_a_branch_in_a_loop(n, limit):
    box = Box(acc=0)
    i = 0
    while i < n:
        if box.acc < limit:
            box.acc = box.acc + 2
        i += 1
    return box.acc


@case(3, 0)
def attribute_only_read_in_a_loop(n):
    box = Box(rate=3)
    total = 0
    while n > 0:
        total = total + box.rate
        n -= 1
    return total


@case(1, -1)
def deleted_attribute_made_anew(x):
    box = Box(n=1)
    del box.n
    if x > 0:
        box.n = 2
    else:
        box.n = 3
    return box.n
