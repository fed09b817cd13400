"""Lists, sets and dictionaries that grow: in Python as ever, in staged statements refused."""

from collections import defaultdict, deque, namedtuple

from tests.autograph.harness import case

import kinetograph as kg

Interval = namedtuple("Interval", "low high")
MODIFIED = "modified inside a staged"


@case(2, 5)
def append_in_a_python_loop(x):
    items = []
    for i in range(3):
        items.append(x * i)
    return items


@case(2, 5)
def append_and_pop(x):
    items = [x]
    items.append(x + 1)
    items.append(x + 2)
    middle = items.pop(1)
    return items, middle, len(items)


@case((2, 1), (2, -1))
def append_before_a_symbolic_branch(x, flag):
    items = [x]
    items.append(flag)
    if flag > 0:
        x = items[0] + items[1]
    return x, items


@case((2, 1), (2, -1))
def built_by_addition_in_branches(x, flag):
    items = [x]
    if flag > 0:
        items = [*items, 1]
    else:
        items = [*items, 2]
    return items


@case(2, 5)
def extend_insert_reverse(x):
    items = [1, 2]
    items.extend([x, x * x])
    items.insert(0, 7)
    items.reverse()
    items += [3]
    return items


@case((1, 2, 3), (3, 1, 2))
def list_of_results_in_a_python_loop(a, b, c):
    out = []
    for v in (a, b, c):
        if v > 1:
            w = v * 10
        else:
            w = v
        out.append(w)
    return out


@case((1, 2), (3, 4))
def stack_and_queue(a, b):
    queue = deque([a])
    queue.append(b)
    queue.appendleft(a + b)
    return list(queue), queue.popleft()


@case((3, "aab"), (3, "abc"))
def counted_in_a_dictionary(x, text):
    counts = defaultdict(int)
    for letter in text:
        counts[letter] += 1
    return {letter: n * x for letter, n in counts.items()}


@case((3, "aab"), (3, "abc"))
def seen_in_a_set(x, text):
    seen = set()
    for letter in text:
        if letter in seen:
            x = x * 10
        seen.add(letter)
    return x, len(seen)


@case(4, 5)
def dictionary_methods(x):
    d = {"a": 1}
    d.update(b=x)
    d.setdefault("c", x + 1)
    taken = d.pop("a")
    return d, taken, d.get("z", 0)


@case((1, 2), (2, 1))
def named_tuple_in_a_branch(a, b):
    interval = Interval(a, b)
    if interval.low > interval.high:
        interval = Interval(interval.high, interval.low)
    return interval


@case((3, 1), (0, 1))
def named_tuple_in_a_loop(n, a):
    interval = Interval(a, 2)
    while n > 0:
        interval = interval._replace(high=interval.high * 2)
        n -= 1
    return interval.low, interval.high


@case((1, 2), (3, -4))
def list_unchanged_in_a_symbolic_loop(n, x):
    items = [x, 2 * x]
    s = 0
    while n > 0:
        for v in items:
            s = s + v
        n -= 1
    return s


@case(3, staged_raises=(Exception, MODIFIED))
def append_in_a_symbolic_while(n):
    items = []
    while n > 0:
        items.append(n)
        n -= 1
    return len(items)


@case(3, staged_raises=(Exception, MODIFIED))
def append_in_a_symbolic_for(n):
    items = [0]
    for i in kg.range(n):
        items.append(i)
    return items[0]


@case(3, staged_raises=Exception)
def append_in_a_symbolic_branch(x):
    items = [x]
    if x > 0:
        items.append(1)
    return items


@case((1, 2), staged_raises=(Exception, MODIFIED))
def callee_changes_a_list_in_a_branch(x, y):
    items = [y]

    def change():
        items[0] = 100

    if x > 0:
        change()
    return items[0]


@case(1, 0, 2)
def symbolic_index_of_a_python_list(i):
    return [10, 20, 30][i]
