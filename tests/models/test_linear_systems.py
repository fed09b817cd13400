"""Unknowns that together are the noises of a linear system, and their coordinates given data."""

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.lower import evaluate
from kinetograph.graph.precision import x64
from kinetograph.models import linear_systems
from kinetograph.models.centring import Centring, ChosenForms

STEPS = 8
Y = np.cos(np.arange(1.0 * STEPS))


def unknown_scales():
    s = kg.half_normal(1, shape=2, name="s")
    return s[0], s[1], kg.half_normal(1, name="error")


def noises(steps=STEPS):
    return (kg.normal(0, 1, shape=steps, name=name) for name in ("z1", "z2"))


def sums():
    """A local linear trend, as two running sums."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    start = kg.normal(0, 1, shape=2, name="start")
    slope = start[1] + kg.cumsum(s2 * z2)
    level = start[0] + kg.cumsum(slope - s1 * z1)
    kg.observe(Y, kg.normal(2 * level + 1, error))
    return s1, s2, error


def lagged():
    """The level rises by the slope before it; both start at values of their own."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises(STEPS - 1)
    start = kg.normal(0, 1, shape=2, name="start")
    slope = kg.cumsum(kg.concatenate([start[1:], s2 * z2]))
    level = kg.cumsum(kg.concatenate([start[:1], 0.9 * slope[:-1] + s1 * z1]))
    kg.observe(Y, kg.normal(level, error))
    return s1, s2, error


def joined():
    """The same with steps for all levels."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    start = kg.normal(0, 1, shape=1, name="start")
    slope = kg.cumsum(s2 * z2)
    before = kg.concatenate([start, slope[:-1]])
    kg.observe(Y, kg.normal(kg.cumsum(before + s1 * z1), error))
    return s1, s2, error


def by_value():
    """The slope is a walk, and the steps of the level have it as their mean."""
    s1, s2, error = unknown_scales()
    slope = kg.random_walk(s2, STEPS, drift=0.1, init_mean=0.3, init_sd=0.5, name="z2")
    steps = kg.normal(slope, s1, shape=STEPS, name="z1")
    level = kg.cumsum(steps)
    kg.observe(Y, kg.normal(level, error))
    kg.observe(np.sin(Y), kg.normal(1 - level / 3, 0.7))
    return s1, s2, error


def walks():
    """A walk, and the sum of another one that has a step less."""
    s1, s2, error = unknown_scales()
    slope = kg.random_walk(s2, STEPS - 1, init_mean=0.2, init_sd=0.5, name="z2")
    level = kg.random_walk(s1, STEPS, init_sd=2.0, name="z1")
    total = level + kg.concatenate([[0.5], 0.5 + kg.cumsum(0.1 * np.arange(STEPS - 1.0) + slope)])
    kg.observe(Y, kg.normal(total, error))
    return s1, s2, error


def shifted():
    """Steps by value that have a part of a walk as their mean, and a step less."""
    s1, s2, error = unknown_scales()
    slope = kg.random_walk(s2, STEPS, name="z2")
    before, after = (
        kg.normal(part, s1, shape=STEPS - 1, name=name)
        for part, name in ((slope[:-1] * 0.5, "z1"), (slope[1:] / 3, "z3"))
    )
    level = kg.concatenate([[0.3], kg.cumsum(before + after)])
    kg.observe(Y, kg.normal(level, error))
    return s1, s2, error


def two_processes():
    """A walk and an autoregressive process in one sum, whose last elements have no datum."""
    s1, s2, error = unknown_scales()
    rho = kg.uniform(-1, 1, name="rho")
    walk = kg.random_walk(s1, STEPS, name="z1")
    cycle = kg.ar(rho, s2, STEPS, name="z2")
    kg.observe(Y, kg.normal(walk + 0.5 * cycle, error * np.linspace(1, 2, STEPS)))
    return s1, s2, error


def twice():
    """One noise, summed up twice."""
    _, s2, error = unknown_scales()
    z = kg.normal(0.2, 0.8, shape=STEPS, name="z2")
    level = kg.cumsum(kg.cumsum(s2 * z) + kg.normal(0, 1, name="start"))
    kg.observe(Y, kg.normal(level, error))
    return s2, error


def with_elements():
    """A walk and an error of each step of its own."""
    s1, s2, error = unknown_scales()
    walk = kg.random_walk(s1, STEPS, name="z1")
    each = kg.normal(0.1, s2, shape=STEPS, name="z2")
    kg.observe(Y, kg.normal(walk - each, error))
    return s1, s2, error


def with_gaps():
    """Some data are missing, also the last one."""
    s1, s2, error = unknown_scales()
    walk, cycle = kg.random_walk(s1, STEPS, name="z1"), kg.ar(0.7, s2, STEPS, name="z2")
    y = np.where(np.isin(np.arange(STEPS), [2, 3, STEPS - 1]), np.nan, Y)
    mean = walk + 0.1 * np.arange(STEPS) - 2 * cycle
    kg.observe(kg.data(y, name="y", missing="impute"), kg.normal(mean, error))
    return s1, s2, error


def of_one_walk():
    """The first elements of one series."""
    s1, _, error = unknown_scales()
    walk = kg.random_walk(s1, STEPS, name="z1")
    kg.observe(Y[:-2], kg.normal(walk[:-2], error))
    return s1, error


def repeated():
    """Several data of a step, with a predictor of their own, in another order."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    level = kg.cumsum(kg.cumsum(s2 * z2) + s1 * z1)
    mean = level[np.array([3, 1, 3, 0, -1, 6])] + kg.normal(0, 1, name="b") * np.arange(6.0)
    kg.observe(Y[:6], kg.normal(mean, error))
    return s1, s2, error


def loop():
    """Both by a loop over time; the level rises by the new slope."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    level, slope = kg.normal(0, 1, name="level"), kg.normal(0, 1, name="slope")
    levels = []
    for t in range(STEPS):
        slope = 0.9 * slope + s2 * z2[t]
        level = level + slope + s1 * z1[t]
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def loop_by_old_slope():
    """The level rises by the slope before."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    level, slope = kg.normal(0, 1, name="level"), 0.0
    levels = []
    for t in range(STEPS):
        level = level + slope + s1 * z1[t]
        slope = slope + s2 * z2[t] + 0.1 * Y[t]
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def loop_after_a_value():
    """A known first level, and a loop with a step less."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises(STEPS - 1)
    levels, slopes = [kg.normal(0, 1, name="level")], [kg.normal(0, 1, name="slope")]
    for t in range(STEPS - 1):
        levels.append(levels[-1] + slopes[-1] + s1 * z1[t])
        slopes.append(slopes[-1] + s2 * z2[t])
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def loop_after_noises():
    """The first level and the first slope have noises of their own."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    levels, slopes = [0.5 + 3 * z1[0]], [z2[0] * 0.4]
    for t in range(1, STEPS):
        levels.append(levels[-1] + slopes[-1] + s1 * z1[t])
        slopes.append(slopes[-1] + s2 * z2[t])
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def loop_without_first_noises():
    """The first level is a value, and the first noises are not used."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    levels, slopes = [kg.normal(0, 1, name="level")], [kg.normal(0, 1, name="slope")]
    for t in range(1, STEPS):
        slopes.append(0.8 * slopes[-1] + s2 * z2[t])
        levels.append(levels[-1] + slopes[-1] + s1 * z1[t])
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def loop_after_a_known_value():
    """The loop has no element for the first level."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises(STEPS - 1)
    level, slope, levels = 0.5, kg.normal(0, 1, name="slope"), []
    for t in range(STEPS - 1):
        level = level + slope + s1 * z1[t]
        slope = slope + s2 * z2[t]
        levels.append(level)
    kg.observe(Y, kg.normal(kg.concatenate([[0.5], kg.stack(levels)]), error))
    return s1, s2, error


def loop_over_a_series():
    """A loop that reads a walk, with a factor that changes."""
    s1, s2, error = unknown_scales()
    slope, z1 = kg.random_walk(s2, STEPS, name="z2"), kg.normal(0, 1, shape=STEPS, name="z1")
    level, levels = 0.0, []
    for t in range(STEPS):
        level = kg.exp(0.1 * Y[t] * s1) * level + slope[t] + s1 * z1[t]
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def scan():
    """Both by `kg.scan`; the level rises by the new slope."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    starts = kg.normal(0, 1, name="level"), kg.normal(0, 1, name="slope")

    def trip(carry, row):
        (level, slope), (step, z, factor) = carry, row
        slope = factor * slope + s2 * z
        level = level + slope + s1 * step
        return (level, slope), 1 - level / 2

    _, results = kg.scan(trip, starts, (z1, z2, 1 + 0.1 * Y))
    kg.observe(Y, kg.normal(results, error))
    return s1, s2, error


def scan_by_old_slope():
    """The level rises by the slope before; a count is carried, too; the first level is known."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises(STEPS - 1)

    def trip(carry, row):
        level, count, slope = carry
        return (level + slope + s1 * row["z1"], count + 1, slope + s2 * row["z2"]), carry[0]

    start = (0.5, 0, kg.normal(0, 1, name="slope"))
    levels = kg.scan(trip, start, {"z1": z1, "z2": z2})[1]
    kg.observe(Y[1:], kg.normal(levels, error))
    return s1, s2, error


def scan_after_noises():
    """The first level has a noise of its own."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()

    def trip(carry, row):
        level, slope = carry[0] + carry[1] + s1 * row[0], carry[1] + s2 * row[1]
        return (level, slope), level

    start = 0.5 + 3 * z1[0]
    _, levels = kg.scan(trip, (start, z2[0]), (z1[1:], z2[1:]))
    kg.observe(Y, kg.normal(kg.concatenate([[0.1], levels]), error))
    return s1, s2, error


def second_order(s1, s2):
    def trip(carry, z):
        value = s1 * carry[0] - 0.3 * carry[1] + s2 * z
        return (value, carry[0]), value

    return trip


def scan_of_second_order():
    """An autoregression of order 2, whose value before is carried."""
    s1, s2, error = unknown_scales()
    z2 = kg.normal(0, 1, shape=STEPS, name="z2")
    _, values = kg.scan(second_order(s1, s2), (0.0, 0.0), z2)
    kg.observe(Y, kg.normal(values, error))
    return s1, s2, error


def scan_of_values_before():
    """One noise, on which the next datum depends."""
    _, s2, error = unknown_scales()
    z2 = kg.normal(0, 1, shape=STEPS, name="z2")
    _, values = kg.scan(lambda x, z: (0.9 * x + s2 * z, x), 0.4, z2)
    kg.observe(Y, kg.normal(values, error))
    return s2, error


def autoregression():
    """An autoregression of order 2, with a mean and first values of its own."""
    s1, s2, error = unknown_scales()
    rho = kg.stack([s1, kg.normal(0, 0.3, name="rho")])
    x = kg.ar(rho, s2, STEPS, constant=0.3, init_mean=0.5, init_sd=2.0, name="z2")
    kg.observe(Y, kg.normal(1 - x, error))
    return s1, s2, error


def walk_around_an_unknown():
    s1, _, error = unknown_scales()
    level = kg.normal(0.2, 2 + s1, name="level")
    walk = kg.random_walk(s1, STEPS, init_sd=0.5, name="z1")
    kg.observe(Y, kg.normal(walk - 2 * level, error))
    return s1, error


def autoregression_of_an_unknown_mean():
    s1, s2, error = unknown_scales()
    level, rho = kg.normal(0, 1, name="level"), kg.uniform(0, 1, name="rho")
    x = kg.ar(rho, s1, STEPS, constant=level * (1 - rho), init_mean=level, init_sd=s2, name="z1")
    kg.observe(Y, kg.normal(x, error))
    return s1, s2, error


def scan_after_a_stationary_value():
    s1, _, error = unknown_scales()
    level, rho = kg.normal(0, 1, name="level"), kg.uniform(0, 1, name="rho")
    z = kg.normal(0, 1, shape=STEPS, name="z1")
    first = level + s1 * z[0] / kg.sqrt(1 - rho**2)

    def step(x, e):
        x = level + rho * (x - level) + s1 * e
        return x, x

    _, rest = kg.scan(step, first, z[1:])
    kg.observe(Y, kg.normal(kg.concatenate([first[None], rest]), error))
    return s1, error


def scan_of_a_scaled_first_noise():
    """The first step is an element that is divided by an unknown."""
    s1, _, error = unknown_scales()
    rho, z = kg.uniform(0.1, 0.9, name="rho"), kg.normal(0, 1, shape=STEPS, name="z1")
    steps = kg.concatenate([(z[0] / rho)[None], z[1:]])
    _, x = kg.scan(lambda x, e: (rho * x + s1 * e,) * 2, rho, steps)
    kg.observe(Y, kg.normal(x, error))
    return s1, error


def late_autoregressions():
    """The third differences of a series, and a second one; known first values."""
    s1, s2, error = unknown_scales()
    x = kg.ar([0.5, -0.2, 0.1], s1, STEPS - 1, name="z1")
    rest = kg.normal(0, s2, shape=STEPS - 2, name="z2")
    total = kg.concatenate([[0.3], x]) + kg.concatenate([[0.1, -0.4], rest])
    kg.observe(Y, kg.normal(total, error))
    return s1, s2, error


def loop_of_second_order():
    """An autoregression whose first two values are noises."""
    s1, s2, error = unknown_scales()
    z2 = kg.normal(0, 1, shape=STEPS, name="z2")
    x = [0.5 + 3 * z2[0], 0.2 * s2 * z2[1]]
    for t in range(2, STEPS):
        x.append(s1 * x[t - 1] - 0.3 * x[t - 2] + s2 * z2[t])
    kg.observe(Y, kg.normal(kg.stack(x), error))
    return s1, s2, error


def loop_with_values_before():
    """Two steps before, from values before the first step."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    before, level = kg.normal(0, 1, name="before"), kg.normal(0, 1, name="level")
    levels = []
    for t in range(STEPS):
        before, level = level, level + 0.5 * before + s1 * z1[t] + s2 * z2[t] * Y[t]
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def loop_of_third_order():
    """A known value, an unknown one, a noise, and a loop with as many noises as steps."""
    s1, s2, error = unknown_scales()
    z2 = kg.normal(0, 1, shape=12, name="z2")
    x = [0.3, kg.normal(0, 1, name="level"), z2[2]]
    for t in range(3, 12):
        x.append(0.4 * x[t - 1] + s1 * x[t - 3] + s2 * z2[t])
    kg.observe(np.sin(np.arange(12.0)), kg.normal(kg.stack(x), error))
    return s1, s2, error


def loop_of_fewer_noises():
    """The first two values have no noise."""
    s1, s2, error = unknown_scales()
    z2 = kg.normal(0, 1, shape=STEPS - 2, name="z2")
    x = [0.3, kg.normal(0, 1, name="level")]
    for t in range(2, STEPS):
        x.append(s1 * x[t - 1] - 0.5 * x[t - 2] + s2 * z2[t - 2])
    kg.observe(Y, kg.normal(kg.stack(x), error))
    return s1, s2, error


def filled_arrays():
    """A local linear trend as arrays that a loop fills, whose first values are unknown."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    start = kg.normal(0, 1, name="start")

    @kg.function
    def trend(z1, z2, start, s1, s2):
        level, slope = np.zeros(STEPS), np.zeros(STEPS)
        level[0] = start + s1 * z1[0]
        slope[0] = s2 * z2[0]
        for t in kg.range(1, STEPS):
            slope[t] = 0.9 * slope[t - 1] + s2 * z2[t]
            level[t] = level[t - 1] + slope[t - 1] + s1 * z1[t]
        return level

    kg.observe(Y, kg.normal(2 - trend(z1, z2, start, s1, s2), error))
    return s1, s2, error


def sum_after_two_values():
    """One noise, whose sum begins with two known values and has a location of each row."""
    _, s2, error = unknown_scales()
    z2, beta = kg.normal(0.2, 1, shape=STEPS - 2, name="z2"), kg.normal(0, 1, name="beta")
    total = kg.cumsum(kg.concatenate([[1.0, 2.0], s2 * z2]))
    kg.observe(Y, kg.normal(total + beta * np.arange(STEPS), error))
    return s2, error, beta


def scan_after_two_values():
    """The two values before are noises."""
    s1, s2, error = unknown_scales()
    z2 = kg.normal(0, 1, shape=STEPS, name="z2")
    _, values = kg.scan(second_order(s1, s2), (z2[1], 0.3), z2[2:])
    kg.observe(Y, kg.normal(kg.concatenate([[0.3, 0.1], values]), error))
    return s1, s2, error


def numbers():
    """A local linear trend by unknown numbers; nothing depends on the last slope."""
    s1, s2, error = unknown_scales()
    level, slope = kg.normal(0, 1, name="level"), kg.normal(0, 1, name="slope")
    levels = []
    for t in range(STEPS + 1):
        level = kg.normal(level + slope, s1, name=f"z1 {t}")
        slope = kg.normal(0.9 * slope, s2 * (t + 2), name=f"z2 {t}")
        levels.append(level)
    kg.observe(np.append(Y, 0.4), kg.normal(2 * kg.stack(levels), error))
    return s1, s2, error


def standard_numbers():
    """The same by standard numbers, one of which is the first level."""
    s1, s2, error = unknown_scales()
    level, slope = kg.normal(0, 1, name="level"), 0.3
    levels = []
    for t in range(STEPS):
        level = level + slope + s1 * kg.normal(0, 1, name=f"z1 {t}")
        slope = slope + s2 * kg.normal(0.1, 2, name=f"z2 {t}")
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def numbers_of_second_order():
    """Values that depend on two values before."""
    s1, s2, error = unknown_scales()
    x = [kg.normal(0, 1, name="first"), kg.normal(0, 2, name="second")]
    for t in range(STEPS):
        x.append(kg.normal(s1 * x[-1] - 0.5 * x[-2], s2, name=f"z2 {t}"))
    kg.observe(np.append(Y, [0.3, 0.1]), kg.normal(kg.stack(x), error))
    return s1, s2, error


def numbers_without_data():
    """A number in the middle and the last two numbers have no data."""
    s1, s2, error = unknown_scales()
    level, slope = kg.normal(0, 1, name="level"), kg.random_walk(s1, STEPS + 3, name="z1")
    levels = [level]
    for t in range(STEPS + 2):
        levels.append(kg.normal(levels[-1] + slope[t + 1], s2, name=f"z2 {t}"))
    kg.observe(Y, kg.normal(kg.stack([*levels[:4], *levels[5:9]]), error))
    return s1, s2, error, levels[-1]


def other_values_before():
    """The values one and two steps before the first step differ."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    start, levels = kg.normal(0, 1, shape=3, name="start"), []
    level, queue = start[0], [start[1], start[2]]
    for t in range(STEPS):
        level = level + 0.5 * queue.pop(0) + s1 * z1[t] + s2 * z2[t]
        queue.append(level)
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))
    return s1, s2, error


def numbers_by_new_level():
    """The slope depends on the new level; nothing depends on the last slope."""
    s1, s2, error = unknown_scales()
    level, slope, levels = kg.normal(0, 1, name="level"), 0.2, []
    for t in range(STEPS + 1):
        level = kg.normal(level + slope, s1, name=f"z1 {t}")
        slope = kg.normal(0.9 * level, s2, name=f"z2 {t}")
        levels.append(level)
    kg.observe(np.append(Y, 0.4), kg.normal(kg.stack(levels), error))
    return s1, s2, error


def numbers_of_a_series():
    """Numbers after a walk."""
    s1, s2, error = unknown_scales()
    walk = kg.random_walk(s1, STEPS, name="z1")
    x = [kg.normal(walk[t], s2, name=f"z2 {t}") for t in range(STEPS)]
    kg.observe(Y, kg.normal(kg.stack(x), error))
    return s1, s2, error


def season(start, steps=12):
    """A level, and a season that sums to about 0 over four steps."""
    s1, s2, error = unknown_scales()
    level, season = kg.normal(0, 2, name="z1 first"), [start[i] for i in range(3)]
    levels = [level]
    for t in range(1, steps):
        levels.append(kg.normal(levels[-1], s1, name=f"z1 {t}"))
    for t in range(3, steps):
        season.append(kg.normal(-season[-1] - season[-2] - season[-3], s2, name=f"z2 {t}"))
    kg.observe(np.sin(np.arange(steps)), kg.normal(kg.stack(levels) + kg.stack(season), error))
    return s1, s2, error


def season_after_numbers():
    """The second value depends on the first one."""
    first = kg.normal(0.5, 2, name="z2 a")
    return season([first, kg.normal(0.5 * first, 1, name="z2 b"), kg.normal(0, 1, name="z2 c")])


def season_after_a_vector():
    """The mean and the standard deviation of a value are elements of arrays."""
    return season(kg.normal([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], name="z2"), 16)


def season_by_noises():
    """The first values are continued by a noise that begins later."""
    (s1, s2, error), z1 = unknown_scales(), kg.normal(0, 1, shape=12, name="z1")
    z2, start = kg.normal(0, 1, shape=9, name="z2"), kg.normal(0, s2, shape=3, name="z2 start")
    level, levels, season = 0.0, [], [start[i] for i in range(3)]
    for t in range(12):
        level = level + s1 * z1[t]
        levels.append(level)
    for t in range(3, 12):
        season.append(-season[-1] - season[-2] - season[-3] + s2 * z2[t - 3])
    kg.observe(np.sin(np.arange(12.0)), kg.normal(kg.stack(levels) + kg.stack(season), error))
    return s1, s2, error


def loop_after_two_unknowns():
    """The first values are a noise of their own."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    start = kg.normal(0.2, [0.5, 2.0], name="start")
    x = [start[0], start[1]]
    for t in range(2, STEPS):
        x.append(0.5 * x[-1] + s1 * x[-2] + s2 * z2[t] + z1[t])
    kg.observe(Y, kg.normal(kg.stack(x), error))
    return s1, s2, error


def loop_after_an_unknown():
    """A single first value needs no noise of its own."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    x = [kg.normal(0.2, 1, name="start")]
    for t in range(1, STEPS):
        x.append(0.5 * x[-1] + s2 * z2[t] + s1 * z1[t])
    kg.observe(Y, kg.normal(kg.stack(x), error))
    return s1, s2, error


def sums_of_sums():
    """Four states, each the sum of another one."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    level = s2 * z2
    for _ in range(3):
        level = 0.1 * kg.cumsum(level)
    kg.observe(Y, kg.normal(kg.cumsum(s1 * z1 + level), error))
    return s1, s2, error


def two_loops(first, second):
    """Two loops of second order after the same unknowns."""
    (s1, s2, error), (z1, z2) = unknown_scales(), noises()
    start = kg.normal(0.2, 1, name="a"), kg.normal(0.2, 2, name="b")
    x, y = ([start[i] for i in places] for places in (first, second))
    for t in range(2, STEPS):
        x.append(0.5 * x[-1] - 0.3 * x[-2] + s1 * z1[t])
        y.append(0.2 * y[-1] + 0.1 * y[-2] + s2 * z2[t])
    kg.observe(Y, kg.normal(kg.stack(x) + kg.stack(y), error))
    return s1, s2, error


def loops_after_the_same_values():
    return two_loops((0, 1), (0, 1))


def loops_after_exchanged_values():
    return two_loops((0, 1), (1, 0))


def first_value_by_a_later_noise():
    """A first value cannot be a part of the late noise before it, on which it depends."""
    (s1, s2, error), steps = unknown_scales(), 12
    z1, z2 = (kg.normal(0, 1, shape=n, name=f"z{steps - n}") for n in (steps - 1, steps))
    x, v = [0.4], [kg.normal(0.2, 1.1, name="v 0")]
    for t in range(1, steps):
        x.append(0.5 * x[-1] + s1 * z1[t - 1])
        v.append(kg.normal(0.4 * v[-1], s2, name=f"v {t}"))
    u = [kg.normal(0.5 * v[0], 1.1, name="first")]
    for t in range(1, steps):
        u.append(0.3 * u[-1] + s1 * z2[t])
    series = kg.stack(x) + kg.stack(v) + kg.stack(u)
    kg.observe(np.cos(np.arange(1.0 * steps)), kg.normal(series, error))
    return s1, s2, error


BUILDS = [
    sums,
    lagged,
    joined,
    by_value,
    walks,
    shifted,
    two_processes,
    twice,
    with_elements,
    with_gaps,
    of_one_walk,
    repeated,
    loop,
    loop_by_old_slope,
    loop_after_a_value,
    loop_after_noises,
    loop_without_first_noises,
    loop_after_a_known_value,
    loop_over_a_series,
    scan,
    scan_by_old_slope,
    filled_arrays,
    scan_after_noises,
    scan_of_second_order,
    scan_of_values_before,
    autoregression,
    late_autoregressions,
    loop_of_second_order,
    loop_with_values_before,
    loop_of_third_order,
    loop_of_fewer_noises,
    scan_after_two_values,
    sum_after_two_values,
    numbers,
    standard_numbers,
    numbers_of_second_order,
    numbers_of_a_series,
    numbers_by_new_level,
    numbers_without_data,
    other_values_before,
    season_after_numbers,
    season_after_a_vector,
    season_by_noises,
    loop_after_two_unknowns,
    loop_after_an_unknown,
    sums_of_sums,
    loops_after_the_same_values,
    loops_after_exchanged_values,
    first_value_by_a_later_noise,
]
OF_ONE_NOISE = {
    "z1": [
        of_one_walk,
        walk_around_an_unknown,
        autoregression_of_an_unknown_mean,
        scan_after_a_stationary_value,
        scan_of_a_scaled_first_noise,
    ],
    "z2": [
        twice,
        scan_of_second_order,
        scan_of_values_before,
        autoregression,
        loop_of_second_order,
        loop_of_third_order,
        loop_of_fewer_noises,
        scan_after_two_values,
        sum_after_two_values,
    ],
}

# Unknown numbers that are noises with the others if data are not normal.
INTERCEPTS = {
    twice: "start",
    loop: "slope",
    filled_arrays: "start",
    loop_with_values_before: "before",
    loop_of_fewer_noises: "level",
    sum_after_two_values: "beta",
    numbers: "slope",
    standard_numbers: "level",
    numbers_by_new_level: "level",
    walk_around_an_unknown: "level",
    autoregression_of_an_unknown_mean: "level",
    scan_after_a_stationary_value: "level",
}

OF_FIRST_VALUES = {
    loop_after_a_value: {"slope z2", "level z1"},
    loop_after_a_known_value: {"slope z2", "z1"},
    numbers_of_second_order: {"first second z2"},
    numbers_without_data: {"z1", "level z2"},
    loop_after_two_unknowns: {"z1", "z2", "start"},
    loops_after_the_same_values: {"z1", "z2", "a b"},
    first_value_by_a_later_noise: {"z0", "z1", "v"},
}


def forms_of(centring, free_size, in_use=True):
    elements = len(centring.vector_places)
    information = np.stack([np.full(elements, 1.0 if in_use else -1.0), np.zeros(elements)])
    return ChosenForms(centring.written.c, information)


def check_noises(build, model, centring, intercept=None):
    """The unknowns of the noises of the only system."""
    one = [name for name, builds in OF_ONE_NOISE.items() if build in builds]
    expected = set(one or ["z1", "z2", "z3"] if build is shifted else one or ["z1", "z2"])
    expected = OF_FIRST_VALUES.get(build, expected) | ({intercept} if intercept else set())
    (system,) = centring.vectors.values()
    names = ({model.name(v).split()[0] for v in noise.unknowns} for noise in system.system)
    assert {" ".join(sorted(each)) for each in names} == expected


@pytest.mark.parametrize("build", BUILDS)
def test_the_noises_of_a_system_are_found(build):
    model = kg.model(build)
    centring = Centring(model)
    check_noises(build, model, centring)
    (system,) = centring.vectors.values()
    assert set(system.unknowns).isdisjoint(centring.shifts)


@pytest.mark.parametrize("build", BUILDS)
def test_coordinates_are_standard_normal_and_have_the_density_of_the_data(build):
    """Given other unknowns, noises and data are normal, so the integral over noises is known."""
    model = kg.model(build)
    centring, rng = Centring(model), np.random.default_rng(2)
    forms = forms_of(centring, model.free_size)
    y, places = -0.5 * np.abs(rng.normal(size=model.free_size)), centring.vector_places
    with x64():
        plain = model.bind()
        moved = plain._replace(centring=centring, forms=forms)
        forward = jax.jit(lambda y: centring.forward(y, forms, plain.data)[0])
        back = jax.jit(lambda x: centring.inverse(x, forms, plain.data))
        value, slope, _ = jax.jit(moved.value_and_gradient)(y)
        x = np.array(forward(y))
        np.testing.assert_allclose(back(x), y, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(slope[places], -y[places], rtol=1e-6, atol=1e-8)
        at = jax.jit(lambda x: plain.value_and_gradient(x)[:2])
        changes = np.eye(model.free_size)[places]
        # The integral over the noises, whose log density is quadratic.
        curvature = np.array([at(x)[1] - at(x + change)[1] for change in changes])[:, places]
        x[places] += np.linalg.solve(curvature, at(x)[1][places])
        peak = float(at(x)[0])
    integral = peak - 0.5 * np.linalg.slogdet(curvature / (2 * np.pi))[1]
    of_coordinates = float(value) + 0.5 * np.sum(y[places] ** 2)
    of_coordinates += 0.5 * len(places) * np.log(2 * np.pi)
    np.testing.assert_allclose(of_coordinates, integral, rtol=1e-9)


WITHOUT_OTHER_DATA = {
    with_gaps,  # data of some elements
    repeated,
    numbers_without_data,
    of_one_walk,
    sums_of_sums,  # more than three states
    season_after_numbers,
    season_after_a_vector,
    season_by_noises,
    loops_after_the_same_values,
    loops_after_exchanged_values,
    scan_by_old_slope,  # a step has no noise at once
    scan_of_values_before,
    by_value,  # data of two kinds
    two_processes,  # data of several precisions
}


OF_OTHER_DATA = [b for b in BUILDS if b not in WITHOUT_OTHER_DATA]
OF_OTHER_DATA += [
    walk_around_an_unknown,
    autoregression_of_an_unknown_mean,
    scan_after_a_stationary_value,
    scan_of_a_scaled_first_noise,
]


@pytest.mark.parametrize("build", OF_OTHER_DATA)
def test_coordinates_for_data_of_another_kind(build, monkeypatch):
    """They are standard normal if the log likelihood is quadratic, with the h and r in use.

    The evidence has f, the data's mean, and the slope of the log likelihood there.
    """
    observed, observe = [], kg.observe
    monkeypatch.setattr(kg, "observe", lambda y, law: (observed.append(y), observe(y, law)))
    monkeypatch.setattr(linear_systems, "normal_data", lambda *_: None)
    model = kg.model(build)
    centring, rng = Centring(model), np.random.default_rng(2)
    check_noises(build, model, centring, INTERCEPTS.get(build))
    (vector,) = centring.vectors.values()
    assert vector.data is None
    places = centring.vector_places
    y = -0.5 * np.abs(rng.normal(size=model.free_size))
    error = next(u for u in model.density.unknowns if model.name(u) == "error")
    precision = np.exp(-2 * y[model.density.slices[error].start])
    with x64():
        data = np.array(vector.flat(np.broadcast_to(observed[0], vector.shape)))
        forms = ChosenForms(
            centring.written.c, np.stack([np.full(len(places), precision), precision * data])
        )
        plain = model.bind()
        moved = plain._replace(centring=centring, forms=forms)
        _, slope, _ = jax.jit(moved.value_and_gradient)(y)
        # The datum before the first noise is left out of the law of an intercept.
        noise_of_all = max(vector.system, key=lambda noise: noise.size)
        exact = places[1:] if noise_of_all.first and build in INTERCEPTS else places
        np.testing.assert_allclose(slope[exact], -y[exact], rtol=1e-6, atol=1e-8)
        x = np.array(jax.jit(lambda y: centring.forward(y, forms, plain.data)[0])(y))
        gradient = plain.value_and_gradient(x)[1]
        rows = jax.jit(lambda: centring.evidence(x, gradient, y, slope, plain.data))()
        environment = dict(plain.data)
        images = model.density.images(model.density.pieces(x), environment, None)
        evaluate(vector.nodes, environment, images, None)
        law, _ = vector.law(environment)
        unknowns = vector.rows(x[places])
        again = law.written(law.value(unknowns), unknowns)
        np.testing.assert_allclose(vector.flat(again), x[places], rtol=1e-9, atol=1e-10)
    f, of_f = np.array(rows[:2])
    seen = of_f != 0
    assert seen.sum() >= len(places) / 2
    np.testing.assert_allclose(of_f[seen], precision * (data - f)[seen], rtol=1e-7, atol=1e-9)


def test_normal_data_of_a_series_give_its_law():
    """An intercept would need an estimate of what the data say exactly."""

    def build():
        mu, rho = kg.normal(0, 1, name="mu"), kg.uniform(0, 1, name="rho")
        scale, error = kg.half_normal(1, name="scale"), kg.half_normal(1, name="error")
        kg.observe(Y, kg.normal(mu + kg.ar(rho, scale, STEPS, name="x"), error))
        return mu, rho, scale, error

    (vector,) = Centring(kg.model(build)).vectors.values()
    assert vector.data is not None
    assert vector.system == ()


def test_intercepts_of_long_series_and_of_many_numbers_are_left_out():
    """They have coordinates of their own."""

    def build(steps, count):
        scale = kg.half_normal(1, name="scale")
        levels = [kg.normal(0, 1, name=f"level {i}") for i in range(count)]
        x = kg.ar([0.4, 0.3], scale, steps, name="x")
        kg.observe(np.ones(steps), kg.poisson(kg.exp(sum(levels) + x)))
        return scale, *levels

    def noises(steps, count):
        (system,) = Centring(kg.model(lambda: build(steps, count))).vectors.values()
        return [noise.size for noise in system.system]

    longest = linear_systems.LONGEST_WITH_INTERCEPTS
    assert noises(20, 1) == [1, 20]
    assert noises(longest, 1) == [1, longest]
    assert noises(longest + 1, 1) == [longest + 1]
    assert noises(20, 4) == [1, 20]  # more than three states are not written out
    assert noises(20, 5) == [20]


@pytest.mark.parametrize("build", [scan_by_old_slope, scan_of_values_before])
def test_series_without_a_noise_at_once_need_normal_data(build, monkeypatch):
    """The slope of the log likelihood at a step is not that by a noise of the step."""
    monkeypatch.setattr(linear_systems, "normal_data", lambda *_: None)
    assert not any(vector.system for vector in Centring(kg.model(build)).vectors.values())


def test_numbers_that_are_not_of_steps():
    """Each of several series has a number of its own."""

    def build():
        s, error = kg.half_normal(1, shape=2, name="s"), kg.half_normal(1, name="error")
        for _ in range(STEPS):
            z1, z2, factor = (kg.normal(0, 1, shape=n) for n in (STEPS, STEPS, ()))
            level = kg.cumsum(s[0] * z1 + kg.cumsum(s[1] * z2))
            kg.observe(Y, kg.normal(factor * level, error))
        return s, error

    vectors = Centring(kg.model(build)).vectors.values()
    assert [len(vector.system) for vector in vectors] == [2] * STEPS


def filtered(y, s1, s2, error):
    """The log density of data about a trend that begins at 0, by a Kalman filter."""
    move, mean, total = np.array([[1.0, 1], [0, 1]]), np.zeros(2), 0.0
    covariance, noise = np.zeros((2, 2)), np.array([[s1, s2], [0, s2]])
    for value in y:
        mean, covariance = move @ mean, move @ covariance @ move.T + noise @ noise.T
        variance = covariance[0, 0] + error**2
        gain, rest = covariance[:, 0] / variance, value - mean[0]
        total -= 0.5 * (rest**2 / variance + np.log(2 * np.pi * variance))
        mean, covariance = mean + gain * rest, covariance - np.outer(gain, covariance[0])
    return total


def test_the_density_of_a_trend_is_that_of_a_filter():
    """Without the normal coordinates, it is the density of the data, whatever they are."""

    def trend():
        s1, s2, error = (kg.uniform(0, 2, name=name) for name in ("s1", "s2", "error"))
        z1, z2 = noises()
        kg.observe(Y, kg.normal(kg.cumsum(s1 * z1 + kg.cumsum(s2 * z2)), error))
        return {"s1": s1, "s2": s2, "error": error}

    model, rng = kg.model(trend), np.random.default_rng(5)
    centring = Centring(model)
    with x64():
        moved = model.bind()._replace(centring=centring, forms=forms_of(centring, model.free_size))
        density, places = jax.jit(moved.value_and_gradient), centring.vector_places
        for _ in range(3):
            y = rng.normal(size=model.free_size)
            share = 1 / (1 + np.exp(-np.delete(y, places)))  # of the interval, for each scale
            expected = filtered(Y, *(2 * share)) + np.sum(np.log(share * (1 - share)))
            expected -= 0.5 * np.sum(y[places] ** 2 + np.log(2 * np.pi))
            np.testing.assert_allclose(density(y)[0], expected, rtol=1e-9)


@pytest.mark.parametrize("build", [by_value, loop])
def test_a_system_as_written(build):
    model = kg.model(build)
    centring = Centring(model)
    x = np.random.default_rng(3).normal(size=model.free_size)
    with x64():
        data = model.bind().data
        np.testing.assert_array_equal(centring.inverse(x, centring.written, data), x)
        np.testing.assert_array_equal(centring.forward(x, centring.written, data)[0], x)


def product(z1, z2, s, error):
    kg.observe(Y, kg.normal(kg.cumsum(z1 * kg.cumsum(s[0] * z2)), error))


def scale(z1, z2, s, error):
    kg.observe(Y, kg.normal(kg.cumsum(s[0] * z1 + kg.cumsum(s[1] * z2)), kg.exp(z2)))


def other_data(z1, z2, s, error):
    kg.observe(Y, kg.normal(kg.cumsum(s[0] * z1 + kg.cumsum(s[1] * z2)), error))
    kg.observe(Y[:1], kg.normal(z2[:1], error))


def counts(z1, z2, s, error):
    level = kg.cumsum(s[0] * z1 + kg.cumsum(s[1] * z2))
    kg.observe(np.arange(STEPS), kg.poisson(kg.exp(level)))


def other_step(z1, z2, s, error):
    """The noise of the step before."""
    slope = kg.concatenate([[0.0], z2[:-1]])
    kg.observe(Y, kg.normal(kg.cumsum(s[0] * z1 + kg.cumsum(s[1] * slope)), error))


def reversed_loop(z1, z2, s, error):
    level, levels = 0.0, []
    for t in range(STEPS):
        level = level + s[0] * z1[t] + s[1] * z2[STEPS - 1 - t]
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))


def curved_loop(z1, z2, s, error):
    level, levels = 0.0, []
    for t in range(STEPS):
        level = kg.tanh(level) + s[0] * z1[t] + s[1] * z2[t]
        levels.append(level)
    kg.observe(Y, kg.normal(kg.stack(levels), error))


def three_steps_before(z1, z2, s, error):
    levels = [0.0, 0.0, 0.0, 0.0]
    for t in range(STEPS):
        levels.append(0.5 * levels[-4] + s[0] * z1[t] + s[1] * z2[t])
    kg.observe(Y, kg.normal(kg.stack(levels[4:]), error))


def two_steps_earlier(z1, z2, s, error):
    slope = kg.cumsum(s[1] * z2)
    level = kg.cumsum(kg.concatenate([[0.1, 0.2], slope[:-2] + s[0] * z1[2:]]))
    kg.observe(Y, kg.normal(level, error))


def noise_of_another_step(z1, z2, s, error):
    levels = [z1[3]]
    for t in range(1, STEPS):
        levels.append(levels[-1] + s[0] * z1[t] + s[1] * z2[t])
    kg.observe(Y, kg.normal(kg.stack(levels), error))


def one_number(z1, z2, s, error):
    """A number that all steps have, and a number that one step has twice."""
    x, first = [0.0, 0.0], kg.normal(0, 1)
    for t in range(1, STEPS):
        number = kg.normal(x[-1], 1)
        x.append(number * first + z2[t] + 0.1 * number)
    kg.observe(Y, kg.normal(kg.stack(x)[1:], error))


def numbers_of_other_data(z1, z2, s, error):
    x = [kg.normal(0, 1)]
    for _ in range(STEPS):
        x.append(kg.normal(x[-1], s[0]))
    kg.observe(Y, kg.normal(kg.stack(x[1:]), error))
    kg.observe(3, kg.poisson(kg.exp(x[4])))


def numbers_as_scales(z1, z2, s, error):
    x = [kg.normal(0, 1)]
    for _ in range(STEPS):
        x.append(kg.normal(x[-1], 0.5 * x[-1]))
    kg.observe(Y, kg.normal(kg.stack(x[1:]), error))


def coupled_numbers(z1, z2, s, error):
    """Each of two series of numbers depends on the other one."""
    x, y = [kg.normal(0.2, 1)], [kg.normal(0.2, 1)]
    for _ in range(1, 14):
        x.append(kg.normal(0.5 * x[-1] - 0.2 * y[-1], s[0]))
        y.append(kg.normal(0.3 * y[-1] + x[-1], s[1]))
    kg.observe(np.cos(np.arange(14.0)), kg.normal(kg.stack(x) + kg.stack(y), error))


def numbers_of_two_series(z1, z2, s, error):
    """Numbers that are a series of their own, and are read by another series."""
    x, y = [kg.normal(0.2, 1)], [kg.normal(0.2, 1)]
    for _ in range(1, 14):
        x.append(kg.normal(0.5 * x[-1] - 0.2 * y[-1], s[0]))
        y.append(kg.normal(0.3 * y[-1], s[1]))
    kg.observe(np.cos(np.arange(14.0)), kg.normal(kg.stack(x) + kg.stack(y), error))


def without_states(z1, z2, s, error):
    kg.observe(Y, kg.normal(s[0] * z1 + s[1] * z2, error))


def many_sums(z1, z2, s, error):
    level = s[0] * z1 + s[1] * z2
    for _ in range(14):
        level = kg.cumsum(level)
    kg.observe(Y, kg.normal(level, error))


def many_data(z1, z2, s, error):
    level = kg.cumsum(s[0] * z1 + kg.cumsum(s[1] * z2))
    kg.observe(np.ones(40), kg.normal(level[np.repeat(np.arange(STEPS), 5)], error))


def two_selections(z1, z2, s, error):
    mean = kg.cumsum(s[0] * z1)[:4] + kg.cumsum(s[1] * z2)[4:]
    kg.observe(Y[:4], kg.normal(mean, error))


def chosen_by_data(z1, z2, s, error):
    level = kg.cumsum(s[0] * z1 + kg.cumsum(s[1] * z2))
    kg.observe(Y[:3], kg.normal(level[kg.data(np.array([1, 2, 4]), name="i")], error))


OTHERS = [
    many_data,
    two_selections,
    chosen_by_data,
    product,
    scale,
    other_data,
    counts,
    other_step,
    reversed_loop,
    curved_loop,
]
OTHERS += [three_steps_before, noise_of_another_step, two_steps_earlier]
OTHERS += [one_number, numbers_of_other_data, numbers_as_scales]
OTHERS += [without_states, many_sums, coupled_numbers, numbers_of_two_series]


@pytest.mark.parametrize("build", OTHERS)
def test_what_is_not_a_system(build):
    def whole():
        s, error = kg.half_normal(1, shape=2, name="s"), kg.half_normal(1, name="error")
        build(*noises(), s, error)
        return s, error

    vectors = Centring(kg.model(whole)).vectors.values()
    assert not any(vector.system and vector.data for vector in vectors)


@pytest.mark.parametrize(
    ("build", "count"),
    [(numbers_of_other_data, 1), (coupled_numbers, 1), (numbers_of_two_series, 2)],
)
def test_series_that_are_no_system_of_their_data(build, count):
    """A series of numbers has coordinates given all data, and the other series if it is known."""

    def whole():
        s, error = kg.half_normal(1, shape=2, name="s"), kg.half_normal(1, name="error")
        build(*noises(), s, error)
        return s, error

    model = kg.model(whole)
    centring, rng = Centring(model), np.random.default_rng(2)
    vectors = centring.vectors.values()
    assert [len(v.unknowns) >= STEPS for v in vectors if v.system] == [True] * count
    x = rng.normal(size=model.free_size)
    size = len(centring.vector_places)
    information = np.stack([rng.uniform(0, 3, size), rng.normal(size=size)])
    forms = centring.written._replace(information=information)
    with x64():
        data = model.bind().data
        y = centring.inverse(x, forms, data)
        assert np.abs(y - x)[centring.vector_places].max() > 0.1
        forward = jax.jit(lambda y: centring.forward(y, forms, data))
        back, log_jacobian = forward(y)
        np.testing.assert_allclose(back, x, rtol=1e-8, atol=1e-8)
        slopes = jax.jacobian(lambda y: forward(y)[0])(y)
    np.testing.assert_allclose(log_jacobian, np.linalg.slogdet(slopes)[1], rtol=1e-8)
