# Two commands for a fresh machine with git, make and Python 3.11: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# The networks are tested with this; `make test TORCH=` leaves it out and skips their tests.
TORCH ?= torch==2.13.0
# Tests share two cores better than one; `WORKERS=` runs them in one process.
WORKERS ?= -n 2

.PHONY: demo test check dist fuzz test-oldest test-minimal gallery tutorials screens image-steps docs paper-check benchmark data-folder

demo: .venv/ready
	$(BIN)/clearbands demo --out demo-output

test: .venv/ready .venv/torch-ready .venv/docs-ready .venv/peers-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q $(WORKERS)

# While you work: everything but the slow tests, in under two minutes.
check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m "not slow" $(WORKERS)

# New examples for the tests of properties, then hostile cases for ten minutes; the table of
# docs/reliability.md is what came of these.
fuzz: .venv/ready
	$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=new $(WORKERS)
	$(BIN)/python -m tests.fuzz --minutes 10 --write docs/reliability.md

# The fast tests of the library with the lowest versions that pyproject.toml allows, which may call
# newer ones in ways that those have given up.
test-oldest: .venv-oldest/ready
	.venv-oldest/bin/python -m pytest -q -m "not slow" $(WORKERS) \
	  $(foreach folder,benchmarks docs experiments,--ignore tests/$(folder)) \
	  -W ignore::DeprecationWarning -W ignore::FutureWarning

# The wheel, first in an environment that has nothing else, then under the fast tests of the sdist.
test-minimal: .venv/ready
	rm -rf .venv-minimal
	$(PYTHON) -m venv .venv-minimal
	$(BIN)/uv build --quiet --sdist --wheel --out-dir .venv-minimal/dist
	tar -xzf .venv-minimal/dist/*.tar.gz -C .venv-minimal/dist
	VIRTUAL_ENV=$(CURDIR)/.venv-minimal $(BIN)/uv pip install --quiet .venv-minimal/dist/*.whl
	cd .venv-minimal && bin/python dist/clearbands-*/tests/wheel.py
	VIRTUAL_ENV=$(CURDIR)/.venv-minimal $(BIN)/uv pip install --quiet --group test
	cd .venv-minimal/dist/clearbands-*/ && ../../bin/python -m pytest -q -m "not slow" $(WORKERS)

# A release, into dist/: sdist and wheel, checked as the index checks them; the wheel in an empty
# environment; then with its extra `serve`, the README's lines, the command and the service.
dist: .venv/ready
	rm -rf dist .venv-dist
	$(BIN)/uv build --quiet --sdist --wheel --out-dir dist
	$(BIN)/uv tool run twine check --strict dist/*.whl dist/*.tar.gz
	$(PYTHON) -m venv .venv-dist
	VIRTUAL_ENV=$(CURDIR)/.venv-dist $(BIN)/uv pip install --quiet dist/*.whl
	cd .venv-dist && bin/python ../tests/wheel.py
	VIRTUAL_ENV=$(CURDIR)/.venv-dist $(BIN)/uv pip install --quiet "$$(ls $(CURDIR)/dist/*.whl)[serve]"
	cd .venv-dist && bin/python ../tests/release.py ../README.md

# The pictures of docs/gallery.md, by the code beside them.
gallery: .venv/ready
	$(BIN)/python -m tests.pages docs/gallery.md

# The tutorials from top to bottom, commands included, and their pictures.
tutorials: .venv/ready .venv/torch-ready .venv/peers-ready
	$(BIN)/python -m tests.pages --tutorials

# The pictures of the report and of the explore page, by the demo; needs chromium.
screens: .venv/ready
	$(BIN)/python -m tests.screens

# The steps of the Dockerfile in an empty environment, where there is no Docker to build it.
image-steps: .venv/ready
	$(BIN)/python -m tests.image

# The site, into site/; it needs no server.
docs: .venv/docs-ready
	$(BIN)/python -m tests.commands_page
	$(BIN)/python -m tests.api_pages
	$(BIN)/python -m tests.notebook_page
	$(BIN)/python -m tests.pages docs/howto/report.md
	mkdir -p docs/results
	cp -r experiments/results/figures experiments/results/*.md experiments/results/summary.json docs/results
	$(BIN)/zensical build --strict

.venv/docs-ready: .venv/ready
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# CatBoost, LightGBM and NGBoost: some parts wrap them, and `experiments/peers/` compares with them.
.venv/peers-ready: .venv/ready
	$(BIN)/python -m pip install --quiet --group peers
	touch $@

# uv installs in seconds where pip takes minutes; pip is the fallback.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet uv \
	  && VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv pip install --quiet --compile-bytecode --group dev -e ".[all]" \
	  || $(BIN)/python -m pip install --quiet --group dev -e ".[all]"
	touch $@

.venv-oldest/ready: pyproject.toml .venv/ready
	$(PYTHON) -m venv .venv-oldest
	VIRTUAL_ENV=$(CURDIR)/.venv-oldest $(BIN)/uv pip install --quiet --resolution lowest-direct \
	  -e ".[all]" --group test "httpx>=0.27"
	touch $@

# By pip: uv does not find a build for the CPU alone.
.venv/torch-ready: .venv/ready
	test -z "$(TORCH)" || $(BIN)/python -m pip install --quiet "$(TORCH)" \
	  || echo "$(TORCH) could not be installed: the tests of networks will be skipped." >&2
	touch $@

# Variant (b) run the authors' way: with the paper's versions it must agree with the published
# values per seed to 2 %; with current versions it shows how far they carry.
paper-check: data-folder .venv/ready .venv-paper/ready
	.venv-paper/bin/python -m experiments authors --tolerance 0.02
	$(BIN)/python -m experiments authors

# The authors' program against ours on the same rows, one core each. It takes about an hour, can be
# stopped and goes on where it was; `--quick` does one small set.
benchmark: data-folder .venv/ready
	$(BIN)/python -m benchmarks.end_to_end $(OPTIONS)

data-folder:
	@test -d "$(CLEARBANDS_DATA)" || { \
	  echo "Set CLEARBANDS_DATA to the folder of the prepared tables (<name>.parquet)." >&2; exit 1; }

# xgboost comes without its dependencies: on Linux they include a GPU runtime of some hundred MB.
.venv-paper/ready: experiments/paper-pins.txt pyproject.toml
	$(PYTHON) -m venv .venv-paper
	.venv-paper/bin/python -m pip install --quiet -c experiments/paper-pins.txt -e . pandas pyarrow
	.venv-paper/bin/python -m pip install --quiet -c experiments/paper-pins.txt --no-deps xgboost
	touch $@
