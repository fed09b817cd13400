# All tasks of this repository. `make` lists the targets.
#
# A target installs what it needs by itself, into .venv, with the newest fitting Python that
# scripts/find-python finds. PY=python3.12 runs any target with that Python instead, in .venvs/3.12.

PY ?=
JOBS ?= 2

ifeq ($(PY),)
VENV := .venv
else
MINOR := $(shell $(PY) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
VENV := .venvs/$(or $(MINOR),$(error PY=$(PY) does not run))
export PYTHON := $(PY)
endif

# The tests are compiled once, and so is the library for the processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# Each process begins with a half of the tests in their order, so that few fixtures of modules are
# made in both; one that is done takes over tests of the other.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# An environment whose Python has been removed is made again.
$(shell [ -x $(BIN)/python ] || rm -rf $(VENV))

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-wide test-docs test-slow test-random mutants test-all lint types docs bench gpu wheel release clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Environments ------------------------------------------------------------------------------------

$(VENV)/pyvenv.cfg:
	@python=$$(scripts/find-python) && \
	    echo "making $(VENV) with $$python" && \
	    "$$python" -m venv --clear $(VENV)

# One stamp for each set of extras that has been installed.
$(VENV)/.installed-%: $(VENV)/pyvenv.cfg pyproject.toml
	@echo "installing kinetograph[$*] into $(VENV) (a few minutes the first time)"
	@$(PIP) install -e '.[$*]'
	@touch $@

PLOTS := $(VENV)/.installed-plots
TEST := $(VENV)/.installed-test

venv: $(TEST) ## make .venv with all one needs to work here

# Use ---------------------------------------------------------------------------------------------

demo: $(PLOTS) ## sample eight schools, draw its graph and its posterior, into demo/
	@mkdir -p demo
	$(BIN)/kinetograph sample examples/eight_schools.py --seed 1 --out demo/eight_schools.nc
	$(BIN)/kinetograph graph examples/eight_schools.py -o demo/eight_schools.svg
	$(BIN)/python examples/plot_posterior.py demo/eight_schools.nc demo/eight_schools.png
	@echo "wrote:"
	@ls demo/eight_schools.nc demo/eight_schools.svg demo/eight_schools.png

# Tests -------------------------------------------------------------------------------------------

test: $(TEST) ## run the everyday tests
	$(PYTEST) --quick-programs -m "not slow and not wide and not docs" tests

test-wide: $(TEST) ## run the cases that make test leaves out for time, once for each change
	$(PYTEST) --quick-programs -m "wide and not slow" tests

test-docs: $(TEST) ## run what users read: pages, docstrings, examples, types
	$(PYTEST) -m "docs and not slow" tests

test-slow: $(TEST) ## run the slow studies, and the everyday tests on fully optimised programs
	$(PYTEST) -m "slow or not docs" tests

test-random: $(TEST) ## run dieharder on the bits of 16 streams, interleaved (hours)
	@command -v dieharder > /dev/null || \
	    { echo "dieharder is not installed: apt-get install dieharder"; exit 1; }
	$(BIN)/python scripts/random-bytes 16 | dieharder -a -g 200

mutants: $(TEST) ## run the study of mutants: how many small mistakes the tests notice (hours)
	$(BIN)/python scripts/mutants.py

test-all: ## run every test, the slow ones too, on every fitting Python here
	@pythons=$$(scripts/find-python --all) && \
	    for python in $$pythons; do $(MAKE) --no-print-directory test test-wide test-docs test-slow PY=$$python || exit 1; done

# Checks ------------------------------------------------------------------------------------------

lint: $(TEST) ## check style, format and language
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python scripts/language.py

types: $(TEST) ## check types
	$(BIN)/mypy

docs: $(TEST) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

ON_GPU := $(addprefix tests/,bits graph/control programs runs samplers streams)

bench: $(TEST) ## run the benchmarks against peers
	$(BIN)/python benchmarks/run.py

gpu: $(TEST) ## run the tests of runs and loops on a CUDA GPU, and its benchmark
	$(PIP) install 'jax[cuda13]'
	JAX_PLATFORMS=cuda XLA_PYTHON_CLIENT_PREALLOCATE=false $(PYTEST) -m "not slow" $(ON_GPU)
	$(BIN)/python benchmarks/gpu.py

# Artefacts ---------------------------------------------------------------------------------------

wheel: $(VENV)/pyvenv.cfg ## build the wheel into dist/
	@$(PIP) wheel --no-deps --wheel-dir dist .
	@ls dist/*.whl

release: $(TEST) ## build wheel and source distribution, and check them on every fitting Python here
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python scripts/check_release.py dist $$(scripts/find-python --all)

clean: ## remove all that make has made
	rm -rf .venv .venvs .cache demo site dist build .hypothesis .pytest_cache .mypy_cache .ruff_cache .coverage .coverage.*
	find . -path ./benchmarks/.venvs -prune -o -name __pycache__ -prune -exec rm -rf {} +
