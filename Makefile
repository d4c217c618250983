# One command per intention; CI runs the same ones.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
LANES  ?= 3
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help install run test test-postgres lint sentences coverage-table fresh bench faults abuse soak oracle hostile suites mutants audit clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

install: $(VENV)/.installed ## .venv with all that running needs

run: install ## install, prepare and start everything; prints the address and the sign-ins; Ctrl-C stops it
	@$(BIN)/python manage.py serve

test: $(VENV)/.installed-test ## all tests, in three lanes (many of them wait), what failed there once more alone; CLEARINGHOUSE_REQUIRE=browser,postgres,… forbids skips of that kind
	@.ci/test-packages $(VENV)
	@$(BIN)/python -m tests.suite $(LANES) $(ARGS)

test-postgres: $(VENV)/.installed-test ## the tests that use a database, all four on a throw-away PostgreSQL; ARGS="--short" for half a minute of it
	@$(BIN)/python -m tests.on_postgres $(LANES) $(ARGS)

fresh: ## both commands from nothing on a minimal Debian that is made for it (as root); before every release
	@.ci/fresh $(ARGS)

lint: $(VENV)/.installed-test ## ruff, and mypy on the rooms of pure decisions
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

sentences: $(VENV)/.installed-test ## every sentence people may read, with its place: templates and Python
	@$(BIN)/python -m tests.house.sentences

coverage-table: $(VENV)/.installed-test ## docs/coverage.md with the tests that prove each row
	@$(BIN)/python -m tests.proves

bench: $(VENV)/.installed-bench ## the budgets, measured here and now; ARGS="NAME…"
	@$(BIN)/python -m tests.bench $(ARGS)

faults: $(VENV)/.installed-test ## 1,000 kills, full disks, clocks, stops, with the tables; ARGS="--points N --minutes M", "--cases WORD…"
	@$(BIN)/python -m tests.faults $(ARGS)

soak: $(VENV)/.installed-test ## half an hour of everything at once: crawls, edits, propagations, kills; ARGS="--minutes M --postgres"
	@$(BIN)/python -m tests.soak $(ARGS)

abuse: $(VENV)/.installed-test ## what people wait while others drip, or one reader calls every address as fast as he can; ARGS="--seconds 60 --only explain"
	@$(BIN)/python -m tests.abuse $(ARGS)

oracle: $(VENV)/.installed-test ## random sites against the reference crawler; ARGS="--graphs 2000 --seed 1"
	@$(BIN)/python -m tests.oracle $(ARGS)

hostile: $(VENV)/.installed-test ## hostile documents, answers, bombs and links; ARGS="--only documents --minutes 30"
	@$(BIN)/python -m tests.hostile $(ARGS)

suites: $(VENV)/.installed-test ## conformance suites of others, from the folder CLEARINGHOUSE_SUITES names; ARGS="NAME…"
	@$(BIN)/python -m tests.suites $(ARGS)

mutants: $(VENV)/.installed-test ## break one rule or defence at a time; a test must fail; ARGS="-k [guard] --part 1/2"
	@$(BIN)/python -m tests.mutants $(ARGS)

audit: $(VENV)/.installed ## known weaknesses of the dependencies: by the floors we know, and with pip-audit where it is installed (else NOT RUN)
	@$(BIN)/python -m clearinghouse.operations.health.known_weaknesses
	@.ci/audit $(BIN)/python

clean: ## remove .venv and caches; the data in var/ stays
	@rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: the second time takes no time.
$(VENV)/.installed: pyproject.toml constraints.txt .ci/install
	@.ci/install $(PYTHON) $(VENV)
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@.ci/install $(PYTHON) $(VENV) test
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	@.ci/install $(PYTHON) $(VENV) bench
	@touch $@
