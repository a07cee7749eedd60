# SPDX-License-Identifier: Apache-2.0
# A thin front to Meson. Each goal installs what it needs (Debian, as root or with sudo) and builds.
#
#   make build   the command, at build/whyio       make test    everything, sanitizers too
#   make demo    record, look at and replay a real MPI program; why another one is slow
#   make bench   whyio beside strace and LTTng     make fuzz    a minute per parser
#   make bench-replay   replays beside the programs, edges beside the truth
#   make bench-model    the write models beside measurements
#   make bench-admit    admission policies under overload, in virtual time
#   make bench-explain  what `whyio explain` needs for a million events, and for twenty
#   make bench-gains    how right the gains of `whyio explain` are (FUSE, Open MPI)
#   make bench-store    the store under load, beside echoes of a socket and fdatasync
#   make bench-job      what it costs to know the job of a request
#   make soak    the store's simulation for an hour, or SECONDS=N; then which states met which faults
#   make mutants faults put into the store's protocol, and which of them the simulation finds
#   make lint    formatting, clang-tidy, cppcheck  make clean

BUILD := build

.DEFAULT_GOAL := build
.PHONY: build demo test bench bench-replay bench-model bench-admit bench-explain bench-gains bench-job bench-store fuzz soak mutants lint clean install deps-%

deps-%:
	@sh scripts/deps.sh $*

build: deps-build
	@sh scripts/build.sh $(BUILD)

demo: deps-demo
	@sh scripts/build.sh $(BUILD)
	@sh scripts/demo.sh

test: deps-test
	@sh scripts/test.sh

bench: deps-bench
	@sh scripts/build.sh $(BUILD)
	@WHYIO=$(CURDIR)/$(BUILD)/whyio python3 bench/run.py

bench-replay: deps-bench-replay
	@sh scripts/build.sh $(BUILD)
	@sh scripts/bench_replay.sh $(BUILD) $(ARGS)

bench-model: deps-bench-model
	@sh scripts/build.sh $(BUILD)
	@sh scripts/bench_model.sh $(BUILD) $(ARGS)

bench-admit: deps-bench-admit
	@sh scripts/build.sh $(BUILD)
	@sh scripts/bench_admit.sh $(BUILD) $(ARGS)

bench-explain: deps-build
	@sh scripts/build.sh $(BUILD)
	@$(BUILD)/bench/trace_bench 1000000
	@$(BUILD)/bench/trace_bench 20000000
	@$(BUILD)/bench/aborts_bench

bench-gains: deps-test
	@sh scripts/build.sh $(BUILD)
	@python3 bench/gains_suite.py $(ARGS) $(BUILD)

bench-job: deps-build
	@sh scripts/build.sh $(BUILD)
	@$(BUILD)/bench/job
	@python3 bench/mount_jobs.py --build=$(BUILD)

bench-store: deps-build
	@sh scripts/build.sh $(BUILD)
	@python3 bench/store.py --build=$(BUILD) $(ARGS)

fuzz: deps-test
	@sh scripts/fuzz.sh

soak: deps-build
	@sh scripts/build.sh $(BUILD)
	@sh scripts/soak.sh $(BUILD) $(SECONDS)

mutants: deps-build
	@python3 tests/sim/mutants.py . build-mutants $(ARGS)

lint: deps-lint
	@sh scripts/lint.sh

install: build
	sh scripts/meson.sh install -C $(BUILD)

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-lint
