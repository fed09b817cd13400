"""The results as Markdown."""

from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

OURS = "kinetograph"
Record = dict[str, Any]
# Target ratios to the best peer of the time of a new process to its summary.
COLD = {"eight_schools": 1 / 3, "radon_noncentred": 1 / 2, "logistic": 1 / 2}
CACHED = dict.fromkeys(COLD, 1 / 4)


def spread(values: Iterable[float | None], form: Callable[[float], str]) -> str:
    """The median, with minimum and maximum of several values."""
    known = [v for v in values if v is not None]
    if not known:
        return "-"
    if len(known) == 1:
        return form(known[0])
    return f"{form(median(known))} ({form(min(known))}-{form(max(known))})"


def number(value: float) -> str:
    """Three digits, with a comma for the thousands."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(value: float) -> str:
    return f"{100 * value:.2g} %"


def pick(records: list[Record], key: str, **where: Any) -> dict[int, float]:
    """The values of `key` by repeat, without failed records."""
    chosen = (r for r in records if all(r.get(k) == v for k, v in where.items()))
    return {
        r["repeat"]: r[key] for r in chosen if r.get("error") is None and r.get(key) is not None
    }


def best(records: list[Record], key: str, least: bool, **where: Any) -> str | None:
    """The peer with the best median."""
    peers = sorted({r["peer"] for r in records} - {OURS})
    medians = {p: median(v.values()) for p in peers if (v := pick(records, key, peer=p, **where))}
    if not medians:
        return None
    return min(medians, key=medians.__getitem__) if least else max(medians, key=medians.__getitem__)


def model_table(
    records: list[Record], model: str, peers: list[str], far: dict[str, float]
) -> list[str]:
    """One row per peer, and one per run with equal warm-up."""
    lines = [
        f"## {model}",
        "",
        "| | warm-up | cold, s | cached, s | warm, s | min-ESS bulk / tail | **warm min-ESS/s** "
        "| **min-ESS per gradient** | worst R-hat | divergences | means off by, SE |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    kinds = sorted({(r["row"], r["peer"]) for r in records if r["row"].startswith("warm")})
    for row in ("warm", "warm matched"):
        for peer in peers:
            if row == "warm matched" and (row, peer) not in kinds:
                continue
            where = {"model": model, "peer": peer, "row": row}
            here = [r for r in records if all(r.get(k) == v for k, v in where.items())]
            flagged = sum(r.get("rhat", 0) > 1.01 for r in here)
            rhat = spread(pick(here, "rhat").values(), lambda v: f"{v:.3f}")
            bulk, tail = (spread(pick(here, k).values(), number) for k in ("ess_bulk", "ess_tail"))
            cold = pick(records, "seconds", model=model, peer=peer, row="cold").values()
            cached = pick(records, "seconds", model=model, peer=peer, row="cached").values()
            first = row == "warm"
            cells = [
                peer,
                (str(here[0]["warmup"]) if here[0]["warmup"] else "its own") if here else "-",
                spread(cold, number) if first else "",
                spread(cached, number) if first else "",
                spread(pick(here, "seconds").values(), number),
                f"{bulk} / {tail}",
                spread(pick(here, "ess_per_second").values(), number),
                spread(pick(here, "ess_per_gradient").values(), percent),
                rhat + (f" **{flagged} of {len(here)} above 1.01**" if flagged else ""),
                spread(pick(here, "divergences").values(), number),
                f"{far[peer]:.1f}" if first and peer in far else "",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def goals(records: list[Record], models: list[str], memory: list[Record]) -> list[str]:
    """The ratios to the best peer, repeat by repeat, and the memory."""
    lines = [
        "## Ratios to the best peer",
        "",
        "| | model | best peer | kinetograph / best peer | goal | |",
        "|---|---|---|---|---|---|",
    ]
    wanted = (
        ("cold time, empty cache", "seconds", "cold", "cold", True, COLD),
        ("cold time, filled cache", "seconds", "cached", "cold", True, CACHED),
        ("warm min-ESS/s", "ess_per_second", "warm", "warm", False, 1.0),
        ("min-ESS per gradient", "ess_per_gradient", "warm", "warm", False, None),
    )
    for title, key, row, other_row, least, goal in wanted:
        for model in models:
            peer = best(records, key, least, model=model, row=other_row)
            own = pick(records, key, model=model, row=row, peer=OURS)
            other = pick(records, key, model=model, row=other_row, peer=peer)
            ratios = [own[i] / other[i] for i in sorted(own.keys() & other.keys())]
            bound = goal.get(model) if isinstance(goal, dict) else goal
            verdict, aim = "", "-"
            if bound is not None:
                aim = f"{'at most' if least else 'at least'} {bound:.2f}"
                good = ratios and (median(ratios) <= bound if least else median(ratios) >= bound)
                verdict = "reached" if good else "**missed**" if ratios else "not measured"
            shown = spread(ratios, lambda v: f"{v:.2f}")
            lines.append(f"| {title} | {model} | {peer or '-'} | {shown} | {aim} | {verdict} |")
    for record in memory:
        extra = record.get("extra_mb")
        shown = "-" if extra is None else f"{extra:.0f} MB over a bare JAX process and the draws"
        verdict = "not measured" if extra is None else "reached" if extra <= 50 else "**missed**"
        lines.append(f"| memory | {record['model']} | - | {shown} | at most 50 MB | {verdict} |")
    return [*lines, ""]


def failures(records: list[Record]) -> list[str]:
    """All failures and warnings."""
    bad = [r for r in records if r.get("error")]
    lines = [
        f"- {r['peer']}, {r['model']}, {r['row']}, repeat {r['repeat']}: {r['error']}" for r in bad
    ]
    lines += [
        f"- {peer}, {model}, {row}: R-hat above 1.01 in {len(high)} of {len(runs)} runs, "
        f"up to {max(high):.3f}"
        for (peer, model, row), runs in grouped(records).items()
        if (high := [r["rhat"] for r in runs if r.get("rhat", 0) > 1.01])
    ]
    return ["## Failures", "", *(lines or ["None."]), ""]


def grouped(records: list[Record]) -> dict[tuple[str, str, str], list[Record]]:
    """The records of each peer, model and row."""
    out: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        out.setdefault((record["peer"], record["model"], record["row"]), []).append(record)
    return out


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    machine, settings = results["machine"], results["settings"]
    lines = [
        "# Benchmarks",
        "",
        f"{results['date']}; {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['system']}, load at the start {machine['load'][0]}; "
        f"float64, {settings['chains']} chains, {settings['draws']} draws each, "
        f"repeats: {settings['repeats']}; medians (least-greatest).",
        "",
        "Cold: a fresh process, from its start to the summary printed, empty compile cache, "
        f"{settings['cold_warmup']} warm-up steps for all. Cached: the same once more, with the "
        "cache that left. Warm: the second sampling call of a process, its warm-up included. "
        "ESS and R-hat: arviz-stats, the worst quantity. A run with R-hat above 1.01 is flagged: "
        "its figures say little.",
        "",
        "| | " + " | ".join(results["versions"]) + " |",
        "|---" * (len(results["versions"]) + 1) + "|",
    ]
    for name in dict.fromkeys(k for v in results["versions"].values() for k in v):
        cells = (v.get(name, "") for v in results["versions"].values())
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("")
    if results["densities"]:
        lines += [*results["densities"], ""]
    if OURS in settings["peers"]:
        lines += goals(results["records"], settings["models"], results["memory"])
    for model in settings["models"]:
        far = results["means_off"].get(model, {})
        lines += model_table(results["records"], model, settings["peers"], far)
    return "\n".join([*lines, *failures(results["records"] + results["memory"])])
