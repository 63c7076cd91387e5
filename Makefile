# A thin front: every target is a CMake preset away (see CMakePresets.json).
JOBS ?= $(shell nproc)
test: PRESET ?= check
PRESET ?= release
DEPS = --program-only
test: DEPS =

.PHONY: run test build deps format check-format docs clean

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

deps:
	scripts/install-deps $(DEPS)

format:
	clang-format -i $$(git ls-files '*.h' '*.cpp')

check-format:
	clang-format --dry-run --Werror $$(git ls-files '*.h' '*.cpp')

# The site, as build/docs/index.html.
docs: build
	python3 -m venv build/docs-venv
	build/docs-venv/bin/pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	build/docs-venv/bin/mkdocs build --quiet --config-file docs/mkdocs.yml

clean:
	rm -rf build
