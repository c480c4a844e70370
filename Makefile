# `make test` and `make demo` need only Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PARALLEL = --numprocesses auto --dist loadfile
PIP = $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test slow long test-all fuzz check docs compare engines clean
.DEFAULT_GOAL := test

# Modules are compiled once, also where Python was told to keep no bytecode.
unexport PYTHONDONTWRITEBYTECODE

demo: $(VENV)/.installed
	$(BIN)/dgd demo --output demo-output

# XLA's costliest passes are left out here, for most of the time is compiling; the others keep them.
test: export JAX_DISABLE_MOST_OPTIMIZATIONS = 1
test: export XLA_FLAGS = --xla_cpu_use_fusion_emitters=false
test: $(VENV)/.test-installed
	$(BIN)/python -m pytest $(PARALLEL) --durations=10

# What takes up to a minute each.
slow: $(VENV)/.test-installed
	$(BIN)/python -m pytest $(PARALLEL) -m slow --durations=25

# Experiments of minutes each, before a release.
long: $(VENV)/.test-installed
	$(BIN)/python -m pytest $(PARALLEL) -m long --durations=25

test-all: test slow long

# Thousands of mutated tables, files and calls, and hundreds of kills; `make slow` has a few of each.
fuzz: export DGD_FUZZ = 2000
fuzz: $(VENV)/.test-installed
	$(BIN)/python -m pytest tests/house/test_fuzz.py tests/house/test_kills.py -m "" --durations=10

check: $(VENV)/.check-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pages, with every Python block of them run; docs/_build/html/index.html is the first.
docs: export JAX_DISABLE_MOST_OPTIMIZATIONS = 1
docs: export XLA_FLAGS = --xla_cpu_use_fusion_emitters=false
docs: $(VENV)/.docs-installed
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html

# Of biogeme only the file of the Swissmetro survey is read, so that none of its needs is installed.
compare: $(VENV)/.test-installed
	$(PIP) --editable '.[compare,choice]'
	$(PIP) --no-deps biogeme
	$(BIN)/python -m pytest -m "not long and not engines" \
		tests/model/test_against_torch.py tests/choice/test_against_pyblp.py \
		tests/choice/firms/test_firms_against_pyblp.py tests/choice/inversion/test_gmm_against_pyblp.py \
		tests/choice/test_swissmetro.py \
		tests/house/test_examples.py::test_cereal_finds_demand_that_falls_with_price

engines: $(VENV)/.test-installed
	$(PIP) --editable '.[spark,ray]'
	$(BIN)/python -m pytest tests/counting/test_engines.py tests/counting/test_spark_parts.py
	$(BIN)/python -m pytest -m "slow or engines" tests/processes/test_engine_launching.py tests/many/test_task_engines.py \
		tests/large/test_two_processes.py

clean:
	rm -rf $(VENV) demo-output campaign-output docs/_build docs/_pictures

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("dgd needs Python 3.11 or newer; set PYTHON=python3.11") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/.test-installed: $(VENV)/.installed
	$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/.check-installed: $(VENV)/.test-installed
	$(PIP) --editable '.[check]'
	@touch $@

$(VENV)/.docs-installed: $(VENV)/.installed
	$(PIP) --editable '.[docs]'
	@touch $@
