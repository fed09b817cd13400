"""An outbreak that closes the schools: how much did that help, and when will it be over?

A town counts its new cases day by day. When too many people are ill at a time, the schools close;
nobody wrote down how many that were, or when. The moment is a stopping time of the outbreak: it
depends on all unknowns, and all that comes later depends on it. Schools close within a day, just
when the level is reached, so that the density is continuous, as the sampler needs it.

Numbers are large at first, and `outbreak` follows their expectations (Kermack and McKendrick 1927,
in steps of a day). At the end chance decides: `last_day` goes on with random draws, until nobody
is ill.

The counts are simulated, with `truth`. Chains begin near the centres of the priors: a start at
which schools never close says nothing about the level.
"""

import numpy as np

import kinetograph as kg

PEOPLE, DAYS_ILL, DAYS = 10_000, 5.0, 45


@kg.function(static_argnames="days")
def outbreak(before, after, alarm, ill, days):
    """New cases expected on each day; when the schools close; who is healthy and ill at the end."""
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
    """The day on which the last one gets well, if schools stay closed; a random draw."""
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

before = kg.lognormal(np.log(0.4), 0.3)  # people infected by one who is ill, a day
after = kg.lognormal(np.log(0.2), 0.5)  # the same with schools closed
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
