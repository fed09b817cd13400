"""A snippet for each class of syntax, as statements in a function of `x`, `y`, `it` and `box`.

Each runs as Python; what it computes is in `r`.
"""

import sys

SNIPPETS = """
r = x + y - x * y / 3 // 2 % 5 ** 2
===
r = ~(x << 2) & 7 | y >> 1 ^ 3
===
r = -x, +x, not x, it @ it if hasattr(it, '__matmul__') else None
===
r = x < y, x <= y, x > y, x >= y, x == y, x != y, x is y, x is not y, x in it, x not in it
===
r = x and y, x or y, (x if y else -x), 0 < x < y
===
r = [*it, x], (*it,), {*it}, {'a': x, **{'b': y}}
===
r = [a for a in it if a], {a for a in it}, {a: x for a in it}, sum(a for a in it)
===
r = (lambda a, /, b=2, *c, d=4, **e: (a, b, c, d, e))(x, y, 3, d=5, f=6)
===
r = f'{x} {y!r:>{4}} {x + y=}', 'text', b'bytes', 1j, ..., None, True
===
r = it[0], it[:1], it[::2], it[-1]
===
box.a = x
box.a += y
r = box.a
del box.a
===
l = list(it)
l[0], l[1:], *rest = x, [y], 3
l[0] += 2
del l[0]
r = l, rest
===
(r := x + y)
===
r: int = x
s: 'missing'
===
a = b = x
a, (b, *c) = 1, (2, 3, 4)
a += b
r = a, b, c
===
for a in it:
    if a > 1: continue
    r = a
else:
    r = 'else'
===
r = 0
while r < 3:
    r += 1
    if r == 2: break
else:
    r = 'else'
===
if x: r = 1
elif y: r = 2
else: r = 3
===
try:
    r = 1
    raise KeyError('k') from None
except (KeyError, ValueError) as error:
    r = str(error)
except Exception: pass
else: r = 2
finally: r = r, 'finally'
===
try: raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
except* ValueError as group: r = group.exceptions[0].args
except* TypeError: pass
===
import contextlib as c, os.path
from math import pi as p, floor
with c.suppress(ValueError) as q, c.nullcontext(x) as (r): pass
r = r, floor(p)
===
assert True, 'message'
pass
r = x
===
match it:
    case []: r = 0
    case [1, a, *rest] if a: r = a, rest
    case [_, *_]: r = 1
===
match {'k': [x, y], 'l': None}:
    case {'k': [a, b] as both, 'l': None, **rest}: r = a, b, both, rest
===
match x:
    case complex(real=0) | -1 | 'a': r = 0
    case int(n) | float(n): r = n
===
global made_global
made_global = x
r = made_global
===
def g():
    nonlocal r
    r = x
r = 0
g()
===
def g[T: int, *Ts, **P](a: T, *args: *Ts) -> T:
    return a
r = g(x)
===
type Alias[T] = list[T]
r = Alias.__name__
===
class A[T](object, metaclass=type):
    'doc'
    a: int = x
    def m(self): return self.a
r = A().m()
===
def decorate(f): return f
@decorate
def g(a, b: int = 2, /, c=3, *d, e=5, **f): return a, b, c, d, e, f
r = g(x, y, e=6, z=7)
===
def g():
    a = yield x
    yield from it
r = list(g())
===
async def g():
    async for a in it: pass
    async with it as b: pass
    return [await c async for c in it]
r = g.__name__
===
r = x
x; y
===
raise ValueError(x)
===
return x
===
async def g(): await it
r = (lambda: (yield))().__class__.__name__
"""

if sys.version_info >= (3, 14):
    SNIPPETS += "===\nr = t'{x} {y!r:>{4}}'.values\n"

BODIES = [body.strip() for body in SNIPPETS.split("===")]


def source(body: str) -> str:
    """The function of a body."""
    lines = "\n".join("    " + line for line in body.splitlines())
    last = "" if body.startswith(("raise", "return")) else "    return r\n"
    return f"def f(x, y, it, box):\n{lines}\n{last}"
