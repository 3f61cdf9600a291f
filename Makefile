# Two commands for a fresh machine with git, make and Python 3.11: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test

demo: .venv/ready
	$(BIN)/clearbands demo --out demo-output

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q

# uv installs in seconds where pip takes minutes; pip is the fallback.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet uv \
	  && VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv pip install --quiet --group dev -e ".[all]" \
	  || $(BIN)/python -m pip install --quiet --group dev -e ".[all]"
	touch $@
