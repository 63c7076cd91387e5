# Shortcuts for the CMake presets (see CMakePresets.json).
JOBS ?= $(shell nproc)
test: PRESET ?= check
PRESET ?= release
DEPS = --program-only
test: DEPS = $(if $(filter asan,$(PRESET)),--clang)

.PHONY: help run test build web deps format check-format docs clean

help:
	@echo 'make run           builds, records trained agents, trains two more, compares them in a report'
	@echo 'make build         builds the program, build/release/saccade'
	@echo 'make test          builds with checks and runs every test (PRESET=asan, tsan: under sanitizers)'
	@echo 'make web           builds the module of web pages, for saccade export --web'
	@echo 'make docs          builds the site, build/docs/index.html'
	@echo 'make format        formats the sources'
	@echo 'make check-format  checks the format of the sources'
	@echo 'make clean         removes build/'

run: build
	mkdir -p runs
	build/release/saccade record quickstart quickstart_soft --out runs/trained.mp4 --force
	build/release/saccade run experiments/quickstart.yaml --resume
	build/release/saccade run experiments/quickstart.yaml attention.glimpse.kind=soft_grid --resume
	build/release/saccade compare runs/quickstart --force

test: build
	ctest --preset $(PRESET)

build: deps
	cmake --preset $(PRESET)
	cmake --build --preset $(PRESET) --parallel $(JOBS)

# The module of web pages, build/web/page.
web: DEPS += --web
web: deps
	cmake --preset web
	cmake --build --preset web --parallel $(JOBS)

deps:
	scripts/install-deps $(DEPS)

format:
	clang-format -i $$(git ls-files '*.h' '*.cpp')

# An include by a relative path would compile against the direction of the libraries.
check-format:
	clang-format --dry-run --Werror $$(git ls-files '*.h' '*.cpp')
	! git grep -nE '#include "\.\.?/' -- '*.h' '*.cpp'

# Builds the site, build/docs/index.html.
docs: DEPS += --docs
docs: build build/docs-venv/ready
	NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/python -m mkdocs build --quiet --config-file docs/mkdocs.yml

# Starts again if an earlier call was interrupted.
build/docs-venv/ready: docs/requirements.txt | deps
	python3 -m venv --clear build/docs-venv
	build/docs-venv/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	touch $@

clean:
	rm -rf build
