"""An outbreak that closes the schools: the effect, and its last day.

A town counts its new cases each day. When too many people are ill, the schools close; neither this
number of people nor the day of the closure was recorded. The closure is a stopping time: it depends
on all unknowns, and everything later depends on it. The schools close at the fraction of a day at
which the level is reached, so that the density is continuous, as the sampler requires.

At first the numbers are large, and `outbreak` computes their expectations (Kermack and McKendrick
1927, in steps of a day). At the end the numbers are small and random: `last_day` continues with
random draws until no one is ill.

The counts are simulated from `truth`. Chains start near the centres of the priors: at a start where
the schools never close, the density does not depend on the level.
"""

import numpy as np

import kinetograph as kg

PEOPLE, DAYS_ILL, DAYS = 10_000, 5.0, 45


@kg.function(static_argnames="days")
def outbreak(before, after, alarm, ill, days):
    """Expected new cases, time of closure, final numbers healthy and ill."""
    healthy = PEOPLE - ill
    expected = np.zeros(days)
    closed = np.inf
    for day in kg.range(days):
        rate = before
        change = (before * healthy / PEOPLE - 1 / DAYS_ILL) * ill
        if day > closed:
            rate = after
        elif ill + change >= alarm:
            share = (alarm - ill) / change  # of the day, until the alarm
            closed = day + share
            rate = share * before + (1 - share) * after
        new = rate * ill * healthy / PEOPLE
        healthy = healthy - new
        ill = ill + new - ill / DAYS_ILL
        expected[day] = new
    return expected, closed, healthy, ill


streams = kg.RandomStreams(metaseed=1)


@kg.function
def last_day(after, healthy, ill):
    """The day of the last recovery, drawn, with schools closed."""
    day = DAYS
    ill = streams.poisson(ill)
    while ill > 0:
        new = streams.poisson(after * ill * healthy / PEOPLE)
        healthy = healthy - new
        ill = ill + new - streams.binomial(ill, 1 / DAYS_ILL)
        day = day + 1
        if day == 365:
            break
    return day


truth = {"before": 0.5, "after": 0.15, "alarm": 150.0, "ill": 5.0}
cases = np.random.default_rng(1).poisson(outbreak(**truth, days=DAYS)[0])

before = kg.lognormal(np.log(0.4), 0.3)  # infections per ill person and day
after = kg.lognormal(np.log(0.2), 0.5)  # infections with schools closed
first = kg.lognormal(np.log(5), 0.5)  # ill on the first day
rise = kg.lognormal(np.log(100), 0.5)
alarm = first + rise
expected, closed, healthy, ill = outbreak(before, after, alarm, first, DAYS)
counts = kg.data(cases, dims="day")
kg.observe(counts, kg.poisson(expected))

model = kg.model(before, after, first, alarm, closed, healthy, ill)
initial = {"before": 0.4, "after": 0.2, "first": 5, "rise": 100}

if __name__ == "__main__":
    print(kg.summary(kg.mcmc(model, draws=2000, initial=initial, seed=1)))
