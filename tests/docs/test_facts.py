"""Names, numbers and defaults on the pages agree with the code."""

import ast
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.docs import reference
from tests.docs.pages import COLUMNS, ROOT

import kinetograph as kg
from kinetograph.adaptation import host_warmup, low_rank, schedule, step_size
from kinetograph.cli import main
from kinetograph.cli.graph import FORMATS as PICTURES
from kinetograph.cli.outcome import FORMATS
from kinetograph.models.hierarchies import LOCATION_SCALE
from kinetograph.programs import disk_cache, memory_cache, pace, program, start_search, state
from kinetograph.results import convergence, stored_model
from kinetograph.runs import chain_method, memory, starting_points, until
from kinetograph.runs.progress import display
from kinetograph.streams import saved

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SAMPLERS = [n for n in kg.samplers.__all__ if issubclass(getattr(kg.samplers, n), kg.Sampler)]
NUTS = inspect.signature(kg.samplers.NUTS).parameters
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    """The text of a page with single spaces."""
    path = ROOT / name if name == "README.md" else DOCS / name
    return " ".join(path.read_text(encoding="utf-8").split())


def row(page: str, first: str) -> str:
    """The row of a table whose first cell is given."""
    path = ROOT / page if page == "README.md" else DOCS / page
    (line,) = re.findall(rf"^\| {re.escape(first)} \| .*$", path.read_text("utf-8"), re.MULTILINE)
    return line


def default(function: Any, name: str) -> Any:
    return inspect.signature(function).parameters[name].default


PYTHONS = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if " :: 3." in c]
WORKS = "how-a-run-works.md"
FACTS = [
    (WORKS, f"`target_acceptance` ({NUTS['target_acceptance'].default}, which may rise"),
    (WORKS, f"`target_limit`, {NUTS['target_limit'].default}, if it is not set"),
    (WORKS, f"`max_depth` ({NUTS['max_depth'].default})"),
    (WORKS, f"up to {2 ** NUTS['max_depth'].default - 1:,} gradients (`max_depth="),
    (WORKS, f"`divergence_threshold` ({NUTS['divergence_threshold'].default:.0f})"),
    (WORKS, f"`step_size` ({NUTS['step_size'].default}, where warm-up starts)"),
    (WORKS, f"`inverse_temperature` ({NUTS['inverse_temperature'].default:.0f})"),
    (WORKS, f'`integrator` ("{NUTS["integrator"].default}"), '),
    (WORKS, f"`max_halvings` ({NUTS['max_halvings'].default})"),
    (WORKS, f"`halving_threshold` ({NUTS['halving_threshold'].default:.0f})"),
    (WORKS, f'`parametrisation` ("{NUTS["parametrisation"].default}")'),
    (WORKS, f"({', '.join(LOCATION_SCALE)})"),
    (WORKS, f"about {pace.BLOCK_SECONDS} s and holds at most {program.ROWS} draws"),
    (WORKS, f"The first block, of {pace.FIRST_GRADIENTS} gradients"),
    (
        WORKS,
        f'`chain_method="{chain_method.CHAIN_METHODS[0]}"` or `"{chain_method.CHAIN_METHODS[1]}"`',
    ),
    (WORKS, f"at most {start_search.STEPS} gradients each"),
    (WORKS, {12: "ascents from twelve of these points"}[state.ASCENTS]),
    (
        WORKS,
        f"the first of up to {starting_points.START_ATTEMPTS} at which density and gradient are "
        "finite",
    ),
    (WORKS, {5.0: "a log gets a line every five seconds"}[display.PLAIN_SECONDS]),
    (WORKS, {0.25: "where it takes more than a quarter"}[memory.WORTH]),
    (WORKS, {0.8: "a fifth of the way to 1 with each"}[round(step_size.RISE, 3)]),
    (WORKS, f"after {host_warmup.FIRST} transitions and then after every {host_warmup.EVERY};"),
    (WORKS, f"from the {host_warmup.EARLIEST}th transition on, it is also examined"),
    (WORKS, f"after every {host_warmup.WORTH} gradients"),
    (WORKS, {2.0: "with an eigenvalue above 2 or below 1/2"}[low_rank.CUTOFF]),
    (WORKS, f"after {host_warmup.SHORTEST} to {host_warmup.LONGEST:,} transitions"),
    (WORKS, f"asked for smaller steps for {host_warmup.QUIET} transitions"),
    (WORKS, f"in its last {host_warmup.FINAL} transitions only the step size changes"),
    (
        WORKS,
        f"in the first {100 * schedule.EARLY:.0f} %, the metric up to {100 * schedule.LATE:.0f} %",
    ),
    (WORKS, f"ensembles take {host_warmup.DEFAULT} where no number is given"),
    (WORKS, f"a counter-based cipher ({saved.ALGORITHM[:8].capitalize()})"),
    (
        WORKS,
        f"At most {disk_cache._MOST_ENTRIES} programs and "
        f"{disk_cache._MOST_BYTES // 2**30} GiB are kept",
    ),
    (WORKS, f"The {memory_cache.MOST} programs that were used last"),
    (WORKS, f"R-hat above {convergence.RHAT_LIMIT}"),
    (WORKS, f"below {convergence.ESS_PER_CHAIN} a chain"),
    ("tutorial.md", f"Above {convergence.RHAT_LIMIT} they do not"),
    ("random-streams.md", "Random words come from Threefry4x32 with 20 rounds"),
    ("long-runs.md", f"when each chain has {until.FIRST} draws, and then at each fifth more"),
    ("long-runs.md", f"Each `checkpoint_every={default(kg.mcmc, 'checkpoint_every')}` seconds"),
    ("long-runs.md", f"Further files are in `{stored_model.HIDDEN}`:"),
    ("optimisation.md", f"`tolerance` ({default(kg.opt, 'tolerance'):.0e}".replace("e-06", "e-6")),
    ("installing.md", f"dist/kinetograph-{kg.__version__}-py3-none-any.whl"),
    ("installing.md", f"needs Python {PYTHONS[0]} to {PYTHONS[-1]}"),
    ("README.md", f"dist/kinetograph-{kg.__version__}-py3-none-any.whl"),
    ("README.md", f"Python {PYTHONS[0]} to {PYTHONS[-1]} on Linux"),
    ("laws.md", {1e-6: "one in a million if not given"}[default(kg.laws.MeanTest.passed, "level")]),
    ("README.md", f"Version {kg.__version__.rpartition('.')[0]}:"),
]


@pytest.mark.parametrize(("page", "fact"), FACTS)
def test_a_fact(page: str, fact: str) -> None:
    assert fact in text(page)


def test_the_readme_links_only_to_files_of_the_source_distribution() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    included = {*build["build"]["targets"]["sdist"]["only-include"], "LICENSE", "README.md"}
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    files = {link.partition("/")[0] for link in links if "://" not in link}
    assert "docs" in files
    assert files <= included


def test_assumptions_of_the_facts() -> None:
    assert saved.ALGORITHM == "threefry4x32-20"
    assert until.GROWTH == 1.2
    assert NUTS["target_limit"].default == 0.99
    assert {*COLUMNS} <= {*re.findall(r"`(\w+)`", text("tutorial.md"))}


def test_tables_of_samplers_have_them_all() -> None:
    rows = (
        (ROOT / "docs" / "writing-samplers.md")
        .read_text("utf-8")
        .partition("The samplers of kinetograph")[2]
    )
    cells = re.findall(r"^\| (`.*?) \|", rows, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)", " ".join(cells))) == sorted(SAMPLERS)
    in_readme = re.findall(r"`(?:kg\.samplers\.)?(\w+)`", row("README.md", "samplers"))
    assert sorted(in_readme) == sorted(SAMPLERS)


def test_the_readme_has_all_distributions() -> None:
    pages = (DOCS / "reference").glob("distributions*.md")
    listed = row("README.md", "distributions").partition("Cholesky factors: ")[2]
    public = [name for page in pages for name in reference.names(page.read_text(encoding="utf-8"))]
    assert sorted(re.findall(r"\w+", listed)) == sorted(public)


def test_the_list_of_the_readme_is_written() -> None:
    """`python -m tests.docs.reference` writes it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert reference.with_distributions(readme) == readme
    number = r"\d+ distributions, permutations"
    changed = re.sub(number, "1 distributions, permutations", readme.replace(", gamma, ", ", "))
    written = reference.with_distributions(changed)
    assert re.search(r", gamma \|$", written, re.MULTILINE)
    assert re.findall(number, written) == re.findall(number, readme)


def test_the_number_of_distributions_of_streams() -> None:
    other_methods = {"choice", "permutation", "getstate", "setstate", "seed", "results"}
    public = {name for name in dir(kg.RandomStreams) if not name.startswith("_")}
    assert other_methods < public
    assert f"{len(public - other_methods)} distributions" in row("README.md", "random draws")


def test_the_table_of_optimisers_has_them_all() -> None:
    page = (DOCS / "optimisation.md").read_text(encoding="utf-8").partition("## Optimisers")[2]
    rows = re.findall(r'^\| (`".*?) \|', page, re.MULTILINE)
    assert sorted(re.findall(r'"(\w+)"', " ".join(rows))) == sorted(kg.optimizers.__all__)
    assert f'`"{default(kg.opt, "optimizer")}"`' == rows[0]


def test_ratios_are_those_of_the_benchmarks() -> None:
    speeds = (ROOT / "README.md").read_text(encoding="utf-8").partition("## How fast")[2]
    ratio = re.compile(r"([\d.]+) \(([\d.]+)-([\d.]+)\)")
    files = {*re.findall(r"\((benchmarks/results/[\w.-]+)\)", speeds)}
    results = "".join((ROOT / file).read_text(encoding="utf-8") for file in sorted(files))
    measured = [tuple(map(float, numbers)) for numbers in ratio.findall(results)]
    shown = ratio.findall(speeds)
    assert len(shown) == 6
    for numbers in shown:
        unit = 10.0 ** -len(numbers[0].partition(".")[2])
        near = [
            all(abs(float(a) - b) < 0.501 * unit for a, b in zip(numbers, each, strict=True))
            for each in measured
        ]
        assert any(near), numbers


def test_figures_of_default_runs_are_those_of_the_study() -> None:
    results = ROOT / "benchmarks" / "results"
    ours, peers = (
        {
            name: cells.split(" | ")
            for name, cells in re.findall(r"^\| (\w+) \| (\d.*) \|$", part, re.MULTILINE)
        }
        for part in (
            (results / "2026-11-30-reliability.md").read_text("utf-8").split("## ")[1],
            (results / "2026-11-23-reliability.md").read_text("utf-8").split("## ")[2],
        )
    )
    speeds = (ROOT / "README.md").read_text(encoding="utf-8").partition("lost, NumPyro")[2]
    shown = re.findall(r"\| ([\d.]+) \| ([\d.]+) \| (\d+) \| (\d+) \|", speeds)
    assert len(shown) == 6
    pairs = {(a[3], peers[n][3], a[0], peers[n][0]) for n, a in ours.items() if n in peers}
    assert {*shown} <= pairs
    lost, chains = sum(int(row[0]) for row in ours.values()), 96 * len(ours)
    assert f"{lost} of {chains:,}" in text("index.md")
    lost, chains = sum(int(row[0]) for row in peers.values()), 96 * len(peers)
    assert f"NumPyro lost {lost} of {chains:,}" in text("index.md")
    assert f"| {ours['eight_schools'][3]} |" in text("index.md")
    assert f"NumPyro {peers['eight_schools'][3]} (" in text("index.md")


def test_kills_of_the_front_page_are_those_of_the_study() -> None:
    page = text("index.md")
    kills = (ROOT / "benchmarks" / "results" / "2026-11-23-kills.md").read_text("utf-8")
    counts = [int(number) for number in re.findall(r"^\| .* \| (\d+) \|$", kills, re.MULTILINE)]
    assert f"{sum(counts)} of {sum(counts)}" in page
    samplers = len(SAMPLERS) - 1
    assert f"no-U-turn sampler and {samplers} more" in page


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert PROJECT["version"] == kg.__version__
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [kg.__version__]
    assert re.findall(r"^license: (.*)$", citation, re.MULTILINE) == [PROJECT["license"]]
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == kg.__version__


def test_the_command_on_its_page() -> None:
    page = text("command-line.md")
    codes = re.findall(r"\| (\d+) \| ", page)
    assert codes == re.findall(r"\b(\d+) (?=done|failed|wrong|stopped|by)", main.help or "")
    for ending in PICTURES:
        assert ending == ".txt" or f"`{ending}`" in page
    for word in FORMATS[1:]:
        assert f"`--format {word}`" in page or f"`{word}`" in page


def test_the_number_of_mistakes() -> None:
    cases = (DOCS / "when-something-goes-wrong.md").read_text(encoding="utf-8").count("\n### ")
    assert 80 <= cases < 100
    assert "more than eighty mistakes" in text("index.md")


def spans(path: Path) -> list[str]:
    """The code spans of a page, outside of code blocks."""
    page = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", page)


def calls(span: str) -> list[ast.Call]:
    """The calls of kinetograph's functions in a Python expression."""
    try:
        tree = ast.parse(span, mode="eval")
    except SyntaxError:
        return []
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and is_public(ast.unparse(n.func))]


def is_public(name: str) -> bool:
    """Whether a name begins with `kg.`."""
    return re.fullmatch(r"kg(\.\w+)+", name) is not None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_names_and_parameters_exist(path: Path) -> None:
    for span in spans(path):
        names = re.findall(r"\bkg((?:\.[A-Za-z]\w*)+)", span)
        for name in [name for name in names if name != ".name"]:  # a placeholder
            value: Any = kg
            for part in name[1:].split("."):
                value = getattr(value, part)
        for call in calls(span):
            value = kg
            for part in ast.unparse(call.func).split(".")[1:]:
                value = getattr(value, part)
            parameters = {
                **inspect.signature(value).parameters,
                **dict.fromkeys(getattr(value, "same_names", ())),
            }
            if not any(p and p.kind is p.VAR_KEYWORD for p in parameters.values()):
                assert {k.arg for k in call.keywords if k.arg} <= {*parameters}, span


def test_the_table_of_dependencies_names_each():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = {re.match(r"[\w-]+", text)[0] for text in project["dependencies"]}
    rows = re.findall(
        r"^\| ([\w, -]+) \| [\w ,]*\d", (ROOT / "docs/installing.md").read_text(), re.M
    )
    assert {name for row in rows for name in row.split(", ")} == required
