# SPDX-License-Identifier: Apache-2.0
# The commands that people use; everything else is CMake. See CONTRIBUTING.md.
PYTHON_VENV := .venv/bin/python

.PHONY: help demo test check deep bench build clean distclean format setup-base setup-test setup-check test-models
.NOTPARALLEL:

help:
	@echo "make demo    build and run the bundled model"
	@echo "make test    every test a contributor needs before a commit"
	@echo "make check   sanitizers, fuzzing, linters, guards, vector levels, emulated machines"
	@echo "make deep    hours of fuzzing and sweeps that no commit waits for"
	@echo "make bench   the benchmark beside onnxruntime"
	@echo "make format  clang-format and ruff over our files"
	@echo "make clean   remove build/   (make distclean: .venv too)"

setup-base setup-test setup-check: setup-%:
	@scripts/setup.sh $*

# Each command installs what it needs before it builds.
build:
	@scripts/build.sh

demo: setup-base
	@scripts/build.sh tools python
	@build/sardonyx demo

test: setup-test build test-models
	@$(PYTHON_VENV) scripts/run_tests.py

test-models:
	@$(PYTHON_VENV) tests/models/build.py

check: setup-check build test-models
	@$(PYTHON_VENV) scripts/check.py

deep: setup-check build test-models
	@$(PYTHON_VENV) scripts/check.py --deep

bench: setup-test build
	@$(PYTHON_VENV) bench/run.py
	@$(PYTHON_VENV) bench/format.py

format: setup-check
	@git ls-files '*.cc' '*.h' '*.hpp' '*.c' | xargs -r clang-format-14 -i
	@$(PYTHON_VENV) -m ruff format -q .
	@$(PYTHON_VENV) -m ruff check -q --fix .

clean:
	rm -rf build

distclean: clean
	rm -rf .venv dist
