# Every target creates the environment it needs once; later runs reuse it.
# PYTHON chooses the interpreter for new environments: make test PYTHON=python3.13

PYTHON ?= python3
BOOK ?= commonplace.db
PORT ?= 8420
VENV := .venv
SERVE := .venv-serve
BENCH := .venv-bench
PIP_INSTALL := -m pip install --quiet --quiet --disable-pip-version-check
INSTALL_SELF := $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
PACKAGE := pyproject.toml src/commonplace/__init__.py
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable chrome
APT := DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet --yes
PYTEST := $(VENV)/bin/python -m pytest -n auto --dist worksteal --hypothesis-profile
CLIENTS := $(patsubst requirements/clients/%.txt,$(VENV)/clients/%,$(wildcard requirements/clients/*.txt))

# Compile once, not in each process that tests start, even if the environment disables bytecode files.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve quick test coverage browser pooler lint format bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: $(SERVE)/.packages ## Serve a book over HTTP: BOOK=commonplace.db PORT=8420
	@$(SERVE)/bin/python -m commonplace serve $(BOOK) --port $(PORT)

quick: $(VENV)/.package ## A minute on two quiet cores: ruff, and the tests that need no PostgreSQL, browser or client packages
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/ruff format --quiet --check .
	@$(PYTEST) quick --quiet -m 'not slow and not postgres and not browser and not clients'

test: lint browser pooler $(CLIENTS) ## Everything that must pass: lint, then all tests, including slow ones
	@printf 'Running the tests\n'
	@$(PYTEST) ci

coverage: browser pooler $(VENV)/.package $(CLIENTS) ## All tests, then the covered lines and branches
	@printf 'Running the tests with coverage (about twice the time of make test)\n'
	@$(PYTEST) ci --cov --cov-report=term:skip-covered --cov-report=html

browser: ## Install Chromium, in which tests open pages, if it is missing and can be installed
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		printf 'The tests need a browser, and none of these is here: %s\nInstall Chromium, then try again.\n' \
			'$(BROWSERS)' >&2; exit 1; \
	fi; \
	printf 'Installing Chromium for the tests (once)\n'; \
	said=$$({ $(APT) install chromium || { $(APT) update && $(APT) install chromium; }; } 2>&1) || \
		{ printf '%s\nChromium could not be installed.\n' "$$said" >&2; exit 1; }

pooler: ## Install PgBouncer for its tests, if it can be installed; otherwise they are skipped
	@for name in pgbouncer /usr/sbin/pgbouncer; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		printf 'PgBouncer is not here: the tests of books behind it will be skipped. Install pgbouncer to run them.\n'; exit 0; \
	fi; \
	printf 'Installing PgBouncer for the tests (once)\n'; \
	said=$$({ $(APT) install pgbouncer || { $(APT) update && $(APT) install pgbouncer; }; } 2>&1) || \
		{ printf '%s\nPgBouncer could not be installed: the tests of books behind it will be skipped.\n' "$$said"; exit 0; }; \
	if [ -d /run/systemd/system ]; then systemctl disable --now --quiet pgbouncer; fi # the tests start their own

lint: $(VENV)/.package ## ruff check, ruff format --check, mypy over src, tests and bench; changes nothing
	@printf 'Checking style\n'
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@if $(VENV)/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
		printf 'Checking types\n'; $(VENV)/bin/mypy; \
	else \
		printf 'Types are not checked: for Python 3.10 there is no numpy with the types of today\n'; \
	fi

format: $(VENV)/.package ## Format the files
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

bench: $(BENCH)/.package ## Compare with other systems, in a separate environment (bench/speed.py)
	@printf 'Running the benchmarks\n'
	@$(BENCH)/bin/python bench/speed.py

clean: ## Remove the environments, caches and build output; books stay
	rm -rf $(VENV) $(SERVE) $(BENCH) build dist htmlcov .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# Serves the code of this clone through a path file, because a package would need build tools.
$(SERVE)/.packages: requirements/serve.txt
	@printf 'Making %s (once; half a minute)\n' $(SERVE)
	@$(PYTHON) -m venv --clear $(SERVE)
	@$(SERVE)/bin/python $(PIP_INSTALL) --no-deps --no-compile -r requirements/serve.txt
	@$(SERVE)/bin/python -c 'import pathlib, sys, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "commonplace.pth").write_text(sys.argv[1] + "\n", "utf-8")' '$(CURDIR)/src'
	@touch $@

# A new list of packages creates a new environment, so that no unlisted package stays and hides a missing entry.
# The list is complete, and most modules are never imported: resolving and compiling them would take a minute.
$(VENV)/.packages: requirements/dev.txt requirements/serve.txt
	@printf 'Making %s (once; under a minute)\n' $(VENV)
	@$(PYTHON) -m venv --clear $(VENV)
	@$(VENV)/bin/python $(PIP_INSTALL) --no-deps --no-compile -r requirements/dev.txt
	@touch $@

# Clients of other services, which tests run unmodified: one directory each, because their versions conflict.
$(VENV)/clients/%: requirements/clients/%.txt $(VENV)/.packages
	@printf 'Installing %s for the tests\n' $*
	@rm -rf $@
	@$(VENV)/bin/python $(PIP_INSTALL) --no-deps --no-compile --ignore-requires-python --target $@ -r $<
	@touch $@

$(BENCH)/.packages: requirements/bench.txt
	@printf 'Making %s (once; a few minutes)\n' $(BENCH)
	@$(PYTHON) -m venv --clear $(BENCH)
	@$(BENCH)/bin/python $(PIP_INSTALL) -r requirements/bench.txt
	@touch $@

$(VENV)/.package: $(VENV)/.packages $(PACKAGE)
	@printf 'Installing commonplace, editable, in %s\n' $(VENV)
	@$(VENV)/bin/python $(INSTALL_SELF)
	@touch $@

$(BENCH)/.package: $(BENCH)/.packages $(PACKAGE)
	@printf 'Installing commonplace, editable, in %s\n' $(BENCH)
	@$(BENCH)/bin/python $(INSTALL_SELF)
	@touch $@
