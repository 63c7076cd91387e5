# A thin front: every target is a CMake preset away (see CMakePresets.json).
JOBS ?= $(shell nproc)
test: PRESET ?= check
PRESET ?= release
DEPS = --program-only
test: DEPS =

.PHONY: run test build deps format check-format clean

run: build
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

clean:
	rm -rf build
