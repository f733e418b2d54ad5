# Two commands: `make demo` shows what Reprieve does, `make test` proves that it does it.
# Both set everything up by themselves; they need Python 3.11+ and make. While working: `make quick`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
RUNS   := $(VENV)/.runs
CORE   := objects jobs config cluster placement preemption quota fleet
# Two workers more than cores: many tests wait for a browser or a process (on two cores a minute less than with one more).
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 2 )))
# A room's folders (preemption has two); of the core everything but the recorded decisions, which take longest.
QUICK   = $(if $(ROOM),tests/$(ROOM)*,$(foreach room,$(CORE),tests/$(room)*) --ignore-glob='*/test_corpus.py')
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv does in seconds what takes pip a minute and a half. Where it is not to be had, or does not know this machine's mirror, pip does it.
# Where somebody forbids Python to keep what it compiled, every command that the tests start would compile a thousand modules again.
unexport PYTHONDONTWRITEBYTECODE
install = @echo "installing $(1)"; $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(PIP) $(1)

.PHONY: help setup quick test lint types layers unit coverage nightly mutants parity demo real soak docs screenshots site deploy dist bench lock clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-8s %s\n", $$1, $$2}'

setup: $(STAMP) ## Create .venv and install the locked dependencies

# What runs needs a third of what tests need, so that the tour begins sooner.
$(STAMP): pyproject.toml requirements/dev.lock $(RUNS)
	$(call install,--require-hashes -r requirements/dev.lock)
	@touch $@

$(RUNS): pyproject.toml requirements/run.lock
	@$(PYTHON) -c 'import sys; sys.exit("Reprieve needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes -r requirements/installer.lock || echo "uv cannot be had here; pip does its work"
	$(call install,--require-hashes -r requirements/run.lock)
	$(call install,--no-deps --editable .)
	@touch $@

# Last failures first, stop at the first one, a tenth of the generated input.
quick: setup ## A first answer in seconds: the core, or one room's tests (`make quick ROOM=quota`)
	REPRIEVE_TEST_SCALE=0.1 $(BIN)/python -m pytest -q -x --ff -n 2 -m "not slow and not real" $(QUICK)

test: setup lint types layers coverage ## Everything that must hold: style, types, layers, tests, coverage

lint: setup
	$(BIN)/ruff check src tests bench tools
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/vulture
	$(BIN)/python tools/secret_scan.py

types: setup
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

layers: setup
	$(BIN)/lint-imports
	$(BIN)/python tools/fronts.py

# On a real control plane, where its programs are found, what takes minutes; the rest of that is `make real`.
# Every run generates other input and prints its seed. What the core's own tests reach is measured on the way.
unit: setup
	rm -f .coverage .coverage.*
	REPRIEVE_TEST_COVERAGE=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=20 -m "not (real and slow)"

coverage: unit ## All tests, and how much of the core its own reach; fails below what they reached before
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

nightly: setup ## Hours: sixty times the generated input, mutants, an hour of load, a real API server
	REPRIEVE_TEST_SCALE=20 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=20 -o timeout=14400 -m "not real"
	$(MAKE) mutants soak real

mutants: setup ## Do the tests notice small wrong changes? (`make mutants ROOM=quota N=60 SEED=1`)
	$(BIN)/python -m tools.mutants $(foreach room,$(ROOM),--room $(room)) $(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED))

parity: setup ## Do all commands give one answer, and does it come true on a cluster that runs?
	$(BIN)/python -m tools.parity $(if $(N),--worlds $(N)) $(if $(SEED),--seed $(SEED)) $(if $(FOLDER),--folder $(FOLDER))

demo: $(RUNS) ## The tour: who would make way, and why
	$(BIN)/reprieve demo

real: setup ## Try everything on a real kube-apiserver, built from Debian's source (slow)
	$(BIN)/python -m tools.real_cluster build
	$(BIN)/python -m pytest tests/real

soak: setup ## An hour under load with crashes; prints what it costs, draws plots (slow)
	$(BIN)/python -m tools.soak --out build/soak

docs: setup ## Write docs/cli.md anew from the commands
	$(BIN)/python tools/cli_reference.py

screenshots: setup ## Take the pictures of the page in docs/images anew, from lively scenes
	$(BIN)/python tools/screenshots.py

site: setup ## Build the docs as a site into build/site
	$(BIN)/python tools/site.py

deploy: setup ## Write what deploy/ holds of the manifests anew: the chart's files, the Kustomize base
	$(BIN)/python tools/deploy_files.py

dist: setup ## Build a release into dist/: wheel, source, chart, kubectl's plugin, list of contents
	$(BIN)/python tools/dist.py

bench: setup ## Print every benchmark's ratios
	for b in bench/*.py; do echo "== $$b"; $(BIN)/python $$b || exit 1; done

lock: ## Resolve the dependencies anew
	$(PIP) --upgrade uv
	echo uv | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  - -o requirements/installer.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --group dev --all-extras pyproject.toml -o requirements/dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --constraints requirements/dev.lock pyproject.toml -o requirements/run.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --extra otel --constraints requirements/dev.lock pyproject.toml -o requirements/image.lock

clean: ## Remove what was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .coverage .hypothesis .import_linter_cache
