# `make demo` and `make test` set up all they need, given Python 3.11+, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
JOBS ?= 2

.PHONY: demo test lint types layers unit format perf constraints clean

# A real language model on this machine: no key, no account. QUICK=1 takes a minute, the whole demo about three.
DEMO := $(if $(QUICK),demo-quick,demo)

demo: $(VENV)/.installed-local
	@rm -rf ledgers/$(DEMO)
	@$(BIN)/costpass run $(DEMO)
	@echo
	@$(BIN)/costpass report ledgers/$(DEMO)
	@echo
	@$(BIN)/costpass frontier ledgers/$(DEMO)

test: lint types layers unit

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

layers: $(VENV)/.installed-dev
	$(BIN)/lint-imports

unit: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(JOBS)

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

perf: $(VENV)/.installed-dev
	$(BIN)/python -m perf.ledger_scan
	$(BIN)/python -m perf.economics
	$(BIN)/python -m perf.calibration
	$(BIN)/python -m perf.frontier_worlds
	$(BIN)/python -m perf.lm_runs

# Pins every version that a fresh install of all extras resolves to today.
constraints:
	$(PYTHON) -m venv $(VENV)-constraints
	$(VENV)-constraints/bin/python -m pip install --quiet hatchling editables '.[all,dev]'
	$(VENV)-constraints/bin/python -m pip freeze --exclude costpass | sort -f > constraints.txt
	rm -rf $(VENV)-constraints

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "costpass needs Python 3.11 or later: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet --constraint constraints.txt hatchling editables
	$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable '.[all,dev]'
	@touch $@

$(VENV)/.installed-local: $(VENV)/.installed
	$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable '.[local]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
