# SPDX-License-Identifier: MIT
# Shortcuts for developers; .ci/run is what decides.  Needs an environment made by
#     python3 -m venv .venv && .venv/bin/pip install -e ".[test,lint]"
PYTHON ?= $(if $(wildcard .venv/bin/python),.venv/bin/python,python3)

.PHONY: build t tt test check format docs asan tsan leak tidy clean

build:            ## build the native parts in place
	@$(PYTHON) -m tools.native

t:                ## the tests closest to what changed since the last commit: 3 s
	@$(PYTHON) -m tools.changed_tests

tt:               ## all tests of the rooms in which something changed
	@$(PYTHON) -m tools.changed_tests --all

test: build       ## all tests
	$(PYTHON) -m pytest -q -n auto

check: export HIPADAPT_WERROR = 1
check: build      ## everything that a commit must pass
	$(PYTHON) -m tools.check
	$(PYTHON) -m pytest -q -n auto

format:           ## lay out C and Python, write generated files
	$(PYTHON) -m tools.check --fix

docs: build       ## the site in build/docs, and all examples; needs the extra docs
	$(PYTHON) -m tools.docs

asan:             ## AddressSanitizer and UndefinedBehaviorSanitizer
	$(PYTHON) -m tools.sanitize address

tsan:             ## ThreadSanitizer
	$(PYTHON) -m tools.sanitize thread

leak:             ## LeakSanitizer; only leaks of our own libraries count
	$(PYTHON) -m tools.sanitize leak

tidy:             ## clang-tidy, if it is installed; slow
	$(PYTHON) -m tools.check clang-tidy

clean:
	rm -rf build hipadapt/_lib hipadapt/_core*.so
