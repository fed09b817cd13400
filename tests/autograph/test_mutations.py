"""What a staged statement changes beside its variables: as in Python, or refused; never otherwise.

Each row is a change and how its outcome is read; every one is put into statements of each kind, in
the function itself and in one that it calls, and run with a value that gets there and one that does
not. Python is the oracle.
"""

import itertools
import re
import textwrap

import numpy as np
import pytest
from tests.autograph.sources import module

import kinetograph as kg

SETTING = """
import collections, dataclasses, functools, types
other = types.ModuleType("other_module")
other.n, other.items = 0.0, [0.0]

class Stats:
    n, items = 0.0, [0.0]
    def bump(self):
        Stats.n = Stats.n + 1
    @classmethod
    def bump_class(cls):
        cls.n = cls.n + 1
    @staticmethod
    def bump_global():
        global N
        N = N + 1

class Meta(type):
    @property
    def level(cls):
        return cls._level
    @level.setter
    def level(cls, value):
        cls._level = value

class Levelled(metaclass=Meta):
    _level = 0.0

class Box:
    def __init__(self):
        self.n, self._q = 0.0, 0.0
    @property
    def q(self):
        return self._q
    @q.setter
    def q(self, value):
        self._q = value
    def bump(self):
        self.n = self.n + 1

class Guarded:
    def __init__(self):
        self.__dict__["store"] = {"n": 0.0}
    def __setattr__(self, key, value):
        self.store[key] = value
    def __getattr__(self, key):
        return self.__dict__["store"][key]

class Descriptor:
    def __init__(self):
        self.values = {}
    def __get__(self, owner, kind):
        return self.values.get("n", 0.0)
    def __set__(self, owner, value):
        self.values["n"] = value

class Described:
    n = Descriptor()

class Private:
    __slots__ = ("__n",)
    def __init__(self):
        self.__n = 0.0
    def bump(self):
        self.__n = self.__n + 1
    def get(self):
        return self.__n

class Table(dict):
    pass

@dataclasses.dataclass
class Data:
    n: float = 0.0

N, GONE, L, D, S = 0.0, 1.0, [0.0], {"n": 0.0}, {1}
box, namespace, data, private = Box(), types.SimpleNamespace(n=0.0), Data(), Private()
queue, userdict, counts = collections.deque([0.0]), collections.UserDict(n=0.0), {}
table, guarded, described, holder = Table(), Guarded(), Described(), {"inner": [Box()]}
table.n = 0.0

def set_global():
    global N
    N = N + 1

def new_global():
    global NEW
    NEW = 1.0

def del_global():
    global GONE
    del GONE

def count():
    count.n = count.n + 1
count.n = 0.0

def default(values=[0.0]):
    values[0] = values[0] + 1
    return values

def keyword_default(*, values=[0.0]):
    values[0] = values[0] + 1
    return values

def set_list():
    L[0] = L[0] + 1

def set_module():
    other.n = other.n + 1

def set_module_list():
    other.items[0] = other.items[0] + 1

part = functools.partial(set_list)

@functools.wraps(set_list)
def decorated():
    return set_list()

@function
def staged():
    set_list()

@convert
def converted():
    set_list()

@do_not_convert
def as_it_is():
    set_list()

def outer():
    n = 0.0
    def bump():
        nonlocal n
        n = n + 1
    def get():
        return n
    def helper():
        nonlocal n
        {change}
    def f(x):
        {declared}
{statement}
        return {read}
    return f
"""
CHANGES = {  # what changes, and how it is read
    "global": ("set_global()", "N"),
    "new global": ("new_global()", "globals().get('NEW', 0.0)"),
    "deleted global": ("del_global()", "globals().get('GONE', 0.0)"),
    "globals()": ("globals().update(N=4.0)", "N"),
    "nonlocal of a sibling": ("bump()", "get()"),
    "nonlocal of a sibling, read": ("bump()", "n"),
    "nonlocal": ("n = n + 1", "n"),
    "class attribute": ("Stats.n += 1", "Stats.n"),
    "class attribute by a method": ("Stats().bump()", "Stats.n"),
    "class attribute by a class method": ("Stats.bump_class()", "Stats.n"),
    "global by a static method": ("Stats.bump_global()", "N"),
    "class attribute by setattr": ("setattr(Stats, 'n', Stats.n + 1)", "Stats.n"),
    "class attribute deleted": ("del Stats.n", "getattr(Stats, 'n', 7.0)"),
    "class of an object": ("type(box).k = 1", "getattr(Box, 'k', 0)"),
    "class by a metaclass": ("Levelled.level = 3.0", "Levelled.level"),
    "list of a class": ("Stats.items.append(1.0)", "len(Stats.items)"),
    "item of a list of a class": ("Stats.items[0] = 2.0", "Stats.items[0]"),
    "module attribute": ("other.n += 1", "other.n"),
    "module attribute by a function": ("set_module()", "other.n"),
    "module attribute by setattr": ("setattr(other, 'n', 2.0)", "other.n"),
    "new module attribute": ("other.fresh = 2.0", "getattr(other, 'fresh', 0.0)"),
    "list of a module": ("other.items[0] = 4.0", "other.items[0]"),
    "list of a module by a function": ("set_module_list()", "other.items[0]"),
    "item of a list": ("L[0] += 5.0", "L[0]"),
    "append": ("L.append(1.0)", "len(L)"),
    "slice": ("L[:] = [3.0]", "L[0]"),
    "list by a function": ("set_list()", "L[0]"),
    "list by map": ("list(map(L.append, [1.0]))", "len(L)"),
    "list by a comprehension": ("[L.append(v) for v in (1.0, 2.0)]", "len(L)"),
    "list by a lambda": ("(lambda: L.append(1.0))()", "len(L)"),
    "list by exec": ("exec('L[0] = 4.0')", "L[0]"),
    "item of a dictionary": ("D['n'] += 1", "D['n']"),
    "new key": ("D['k'] = 1.0", "len(D)"),
    "key deleted": ("del D['n']", "len(D)"),
    "update": ("D.update(n=3.0)", "D['n']"),
    "set": ("S.add(2)", "len(S)"),
    "deque": ("queue.append(1.0)", "len(queue)"),
    "UserDict": ("userdict['n'] = 2.0", "userdict['n']"),
    "attribute of a dictionary": ("table.n = 2.0", "table.n"),
    "attribute of a dictionary by setattr": ("setattr(table, 'n', 2.0)", "table.n"),
    "attribute": ("box.n += 1", "box.n"),
    "attribute by a method": ("box.bump()", "box.n"),
    "property": ("box.q = 3.0", "box.q"),
    "vars": ("vars(box)['n'] = 3.0", "box.n"),
    "attribute deleted": ("del box.n", "getattr(box, 'n', 9.0)"),
    "attribute that is None": ("box.z = None", "hasattr(box, 'z')"),
    "nested": ("holder['inner'][0].n = 2.0", "holder['inner'][0].n"),
    "__setattr__": ("guarded.n = 2.0", "guarded.n"),
    "descriptor": ("described.n += 2.0", "described.n"),
    "dataclass": ("data.n += 1", "data.n"),
    "dataclass by setattr": ("setattr(data, 'n', 2.0)", "data.n"),
    "private slot": ("private.bump()", "private.get()"),
    "namespace": ("namespace.n += 1", "namespace.n"),
    "namespace by setattr": ("setattr(namespace, 'n', 2.0)", "namespace.n"),
    "function attribute": ("count()", "count.n"),
    "function attribute, directly": ("count.n += 1", "count.n"),
    "default argument": ("default()", "default()[0]"),
    "keyword default": ("keyword_default()", "keyword_default()[0]"),
    "partial": ("part()", "L[0]"),
    "decorated function": ("decorated()", "L[0]"),
    "staged function": ("staged()", "L[0]"),
    "converted function": ("converted()", "L[0]"),
    "function that is not converted": ("as_it_is()", "L[0]"),
}
STATEMENTS = {
    "if": "if x > 0:\n    {change}",
    "else": "if x < 0:\n    pass\nelse:\n    {change}",
    "while": "i = x\nwhile i > 0:\n    {change}\n    i = i - 1",
    "for": "for i in range(whole(x)):\n    {change}",
    "rows": "for i in range(3):\n    {change}",
    "break": "for i in range(3):\n    if x > i:\n        {change}\n        break",
    "nested": "if x > -5:\n    if x > 0:\n        {change}",
    "a function": "if x > 0:\n    helper()",
    "if expression": "y = ({change}) if x > 0 else None",
    "and": "y = x > 0 and ({change}) is None",
}
EXPRESSIONS = ("if expression", "and")
PAIRS = [
    (change, statement)
    for change, statement in itertools.product(CHANGES, STATEMENTS)
    if statement not in EXPRESSIONS or re.match(r"[\w.()\[\]]*\(.*\)$", CHANGES[change][0])
]
QUICK = [pair for i, pair in enumerate(PAIRS) if i % 13 == 0]  # all statements, most changes


def made(change, statement, **names):
    text, read = CHANGES[change]
    statement = textwrap.indent(STATEMENTS[statement].replace("{change}", text), " " * 8)
    source = SETTING.replace("{change}", text).replace("{statement}", statement)
    declared = "nonlocal n" if change == "nonlocal" else "pass"
    source = source.replace("{declared}", declared).replace("{read}", read)
    return module(source, **names)["outer"]()


def itself(f):
    return f


def by_python(change, statement, x):
    plain = {name: itself for name in ("function", "convert", "do_not_convert")}
    names = {"range": lambda n: range(max(n, 0)), "whole": int, **plain}
    return made(change, statement, **names)(x)


def by_graph(change, statement):
    auto = {"convert": kg.autograph.convert, "do_not_convert": kg.autograph.do_not_convert}
    names = {"range": kg.range, "whole": lambda x: x.astype(int), "function": kg.function, **auto}
    return kg.function(made(change, statement, **names))


def check(change, statement, values=(3.0, -2.0)):
    for x in values:
        try:
            wanted = by_python(change, statement, x)
        except (KeyError, AttributeError, NameError) as error:  # deleted twice
            wanted = error
        refusal, got = None, None
        try:
            got = by_graph(change, statement)(x)
        except (kg.StagingError, TypeError, NameError) as error:
            refusal = str(error).rpartition("Error: ")[2]
        if refusal is not None:
            assert re.search(r"<source \d+>:\d+", refusal), refusal
            continue
        assert np.array_equal(wanted, got), f"{change}, {statement}, {x}: {got} for {wanted}"


@pytest.mark.parametrize(("change", "statement"), QUICK)
def test_changes_happen_as_in_python_or_are_refused(change, statement):
    check(change, statement, (3.0 if statement in ("while", "for", "rows") else -2.0,))


@pytest.mark.slow
@pytest.mark.parametrize(("change", "statement"), PAIRS)
def test_all_changes_in_all_statements(change, statement):
    check(change, statement)


@pytest.mark.parametrize(
    ("change", "times"),
    [("class attribute", 3), ("module attribute", 3), ("nonlocal", 3)],
)
def test_attributes_count_in_loops(change, times):
    assert by_graph(change, "for")(float(times)) == times


def test_a_change_by_a_method_names_the_object():
    f = by_graph("class attribute by a method", "if")
    with pytest.raises(kg.StagingError, match=r"'Stats' is modified inside .*kg\.state"):
        f(1.0)


def test_imports_in_a_branch_are_no_change():
    def f(x):
        if x > 0:
            import json.tool

            y = x * len(json.__name__)
        else:
            y = x
        return y

    assert kg.function(f)(2.0) == 8.0
