# Weir's tasks. Each target does all the set-up that it needs: a fresh Debian or Ubuntu with Rust
# and Node.js is enough.

WEIR := target/release/weir
WEB := web/dist/report.html

.PHONY: demo timings studies lint-workflows test test-whole test-kills test-agents test-versions test-gate test-flashback test-logs test-fast fuzz check schema reference types web setup setup-tests bench-drive bench-load bench-lua bench-predict bench-blind bench-misses bench-crash bench-agents bench-restore bench-probes bench-web crash-table powercut-table packages package-test deny release clean bench-order bench-flashback bench-replay bench-fit bench-advise compare-flashback

# The main job on real input: builds, runs the first study on real servers, names its report.
demo:
	scripts/setup.sh --system
	@# MySQL and the crates are fetched while the report's page and the program are built.
	@cargo fetch --locked --quiet & scripts/install-mysql.sh & server=$$!; \
	$(MAKE) --no-print-directory release; built=$$?; wait $$server && exit $$built
	@# 3: a rule forbids a comparison, such as beside other programs on the cores; the report says why.
	$(WEIR) run studies/first-look.toml || [ $$? -eq 3 ]

# The program, target/release/weir. The packages' program is built apart from it, with optimisation across crates.
# `--workspace`, here and below: all programs then take the same features of a library, which is compiled once.
release: $(WEB)
	cargo build --release --workspace --bin weir

# What the build of `make release` spends its time on, from an empty folder: a table of its units, also as
# target/timings.json. On a machine that does nothing else.
timings: $(WEB)
	rm -rf target/timings
	cargo build --release --workspace --bin weir --timings --target-dir target/timings
	node scripts/timings.mjs target/timings/cargo-timings/cargo-timing.html target/timings.json

# What CI runs: format, lints, unit and end-to-end tests on real servers and a real browser. A test that hangs is ended;
# `.config/nextest.toml` says so, and names what is left to `make test-whole`. What this machine makes a test leave out is
# counted and named.
SKIPS := $(CURDIR)/target/skipped-tests
PROFILE := default
test: setup-tests check
	@rm -f $(SKIPS)
	WEIR_SKIPS=$(SKIPS) cargo nextest run --workspace --profile $(PROFILE)
	cd web && npm test && npm run test:browser
	@touch $(SKIPS); sort -u $(SKIPS); echo "left out on this machine: $$(sort -u $(SKIPS) | wc -l)"

# All tests: long repetitions, and the second flavour of slow ones, too; then those of the program without its features.
test-whole: PROFILE := whole
test-whole: test
	cargo nextest run --package weir --no-default-features

# Each feature on further versions of the servers, as far as the registries have them, and the page of what came of it.
# Not part of `make test`; half an hour and 3 GB of disk.
test-versions: setup $(WEB)
	cargo build --workspace --bin weir
	scripts/fetch-versions.sh target/versions
	node scripts/test-versions.mjs target/debug/weir target/versions docs/versions.md

# Fifty kills of each flavour's studies and commands in place of four.
test-kills: $(WEB)
	WEIR_KILLS=50 cargo nextest run --package weir --profile whole 'kill::' 'before_after::what_a_kill'

# Each fault of agents, their bus and their conductor twenty times in place of once; half an hour.
test-agents: $(WEB)
	WEIR_FAULTS=20 cargo nextest run --package weir --test agents --profile long

# Statements at random beside the gate and a real server: an hour for each flavour.
test-gate:
	WEIR_GATE_SECONDS=3600 cargo nextest run --package weir-mysql --test gate --profile gate

# Random histories beside flashback and real servers: an hour for each flavour.
test-flashback:
	WEIR_FLASHBACK_SECONDS=3600 cargo nextest run --package weir-flashback --test oracle --profile gate --ignore-default-filter

# Random sessions beside the logs that real servers write of them, and beside their replay: an hour of each for each flavour.
test-logs:
	WEIR_LOGS_SECONDS=3600 cargo nextest run --package weir-capture --test oracle --profile gate --ignore-default-filter
	WEIR_REPLAY_SECONDS=3600 cargo nextest run --package weir-replay --test it --profile gate --ignore-default-filter -E 'test(replayed_state)'

# What needs no server, no mount and no browser: under a minute and a half from a built tree.
test-fast: $(WEB)
	cargo nextest run --workspace --profile fast

# What is read from outside, changed at random: a minute for each reader.
fuzz: $(WEB)
	WEIR_FUZZ_SECONDS=60 cargo nextest run --package weir --test fuzz --profile fuzz

check: $(WEB)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- --deny warnings
	cd web && npm run check
	scripts/check-words.sh

# The load engine beside sysbench, a client in Go, mysqlslap and a loop that does nothing else, on a private server: over
# its socket, over TCP, encrypted; about 30 minutes; nothing else should run.
bench-load: $(WEB)
	scripts/setup.sh --bench
	cargo build --release --workspace --bin weir --bin bench_load --bin query_floor
	cd lab/go-client && go build -o $(CURDIR)/target/go/go-client .
	target/release/bench_load --weir $(WEIR) --go-client target/go/go-client --slap mariadb-slap \
		--floor target/release/query_floor $(BENCH_LOAD)

# sysbench's own scripts under the Lua engine, with a thread for each connection and as coroutines, beside sysbench and the
# native workloads, over the socket and over TCP, about 18 minutes; nothing else should run.
bench-lua: $(WEB)
	scripts/setup.sh --bench
	cargo build --release --workspace --bin weir --bin bench_load
	target/release/bench_load --weir $(WEIR) --only oltp_ --json target/bench-lua.json \
		--arm os=--lua-threads=os --arm reactor=--lua-threads=reactor $(BENCH_LUA)

# Order entry beside a script of the same transactions under sysbench, and beside go-tpc: transactions with 16 and 64
# connections, and the loading of two warehouses; about 15 minutes; nothing else should run.
GO_TPC := github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.7
bench-order: $(WEB)
	scripts/setup.sh --bench
	cargo build --release --workspace --bin weir --bin bench_load
	GOBIN=$(CURDIR)/target/go go install $(GO_TPC)
	target/release/bench_load --weir $(WEIR) --order-entry lab/order-entry.lua --json target/bench-order.json \
		--arm text=--db-ps-mode=disable --go-tpc target/go/go-tpc $(BENCH_ORDER)

# The five published studies in their reduced versions, then one page on what became of their claims.
STUDIES := scaleflux-csd2000 memory-or-ssd txsql-new-architecture optane-p4800x alibaba-write-optimisation
studies: setup $(WEB)
	cargo build --release --workspace --bin weir
	for study in $(STUDIES); do \
		$(WEIR) run studies/$$study.toml --reduced --below-floor --out results/$$study || [ $$? -eq 3 ] || exit 1; \
	done
	$(WEIR) claims $(STUDIES:%=results/%) --out results/claims.md
	@echo "what became of the claims: results/claims.md"

# The published form of `weir report --format json`, made of Weir's types.
schema: $(WEB)
	WEIR_UPDATE_FIXTURES=1 cargo test --package weir-report --quiet the_published_form_is_that_of_the_types

# The options of the load in docs/study-reference.md, made of their table.
reference:
	WEIR_UPDATE_FIXTURES=1 cargo test --package weir-model --quiet the_reference_is_what_the_table

# The types of the JSON that the pages in web/ read, made of Weir's types.
types: $(WEB)
	WEIR_UPDATE_FIXTURES=1 cargo test --package weir-report --package weir-serve --quiet types_are_those_of_its_json

# The page of the report, built once and embedded in the binary.
web: $(WEB)

$(WEB): web/package-lock.json $(wildcard web/*.ts web/*.html web/*.json web/src/* web/src/*/*)
	cd web && npm ci --no-audit --no-fund --loglevel=error && npm run build --silent
	touch $@

# The workflows of GitHub, read by actionlint; needs Go. A test reads their YAML and their commands in `make test`.
lint-workflows:
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

setup:
	scripts/setup.sh

setup-tests:
	scripts/setup.sh --tests

# What the emulated drive costs and how accurate it is; fio is the client. Run it on a calm machine.
bench-drive:
	scripts/setup.sh --bench
	cargo bench --workspace --bench drive -- $(CURDIR)/target/bench-drive.json

# How fast logs are read for a flashback, beside programs that only receive them; two minutes.
bench-flashback: setup
	cargo bench --workspace --bench flashback -- $(CURDIR)/target/bench-flashback.json

# Weir's undo beside other ways back, on the same histories, and the page of what came of it; ten minutes.
compare-flashback: setup-tests $(WEB)
	scripts/setup.sh --bench
	cargo build --release --workspace --bin weir
	node scripts/flashback-tools.mjs $(WEIR) target/flashback-tools docs/flashback-tools.md

# How late replays of 1,000 and 5,000 sessions are, memory, files left open, the load's profile beside the capture's,
# what the capture proxy adds, and equal arms; about 7 minutes. BENCH_REPLAY="--only=lateness --seconds=600": ten minutes
# of sessions that come and go.
bench-replay: setup
	cargo bench --workspace --bench replay -- $(CURDIR)/target/bench-replay.json $(BENCH_REPLAY)

# Weir's advice and MySQLTuner's on 20 servers with planted problems, and the page of what came of it; ten minutes for each
# server, and nothing else should run. It goes on where it stopped. BENCH_ADVISE=4: so many servers.
bench-advise: setup $(WEB)
	scripts/setup.sh --bench
	cargo build --release --workspace --bin weir
	node scripts/advise-servers.mjs $(WEIR) target/bench-advise docs/decisions/measured-advice.md $(BENCH_ADVISE)

# Fitted workloads beside the captures that they were fitted to: hit ratios with three pools, throughput; 5 minutes.
bench-fit: setup
	cargo build --release --workspace --bin bench_fit
	target/release/bench_fit $(CURDIR)/target/bench-fit.json

# What predictions cost, about a minute; nothing else should run.
bench-predict:
	cargo build --release --workspace --bin bench_predict
	target/release/bench_predict

# How far off predictions are: 80 places that were predicted before they were run, about an hour; nothing
# else should run. It goes on where it stopped.
bench-blind: setup $(WEB)
	cargo build --release --workspace --bin weir
	lab/bench-blind.sh $(CURDIR)/target/bench-blind $(WEIR)

# How far off the predicted misses of pools are: 60 pools of live servers, about 20 minutes. It goes on where it
# stopped.
bench-misses: setup $(WEB)
	cargo build --release --workspace --bin weir
	lab/bench-misses.sh $(CURDIR)/target/bench-misses $(WEIR)

# How long a data set of 1 GB takes to be made and to be restored, with and without reflinks; root for the
# former. Some minutes.
bench-restore:
	scripts/setup.sh --bench
	cargo build --release --workspace --bin bench_restore
	lab/bench-restore.sh $(CURDIR)/target/bench-restore target/release/bench_restore

# What the probes cost the processors and the throughput, on both flavours; 7 minutes.
bench-probes:
	cargo build --release --workspace --bin bench_probes
	target/release/bench_probes mysql
	target/release/bench_probes mariadb

# Crash states a minute from one recording, beside rerunning the workload for each, and the memory it takes;
# about 10 minutes on a calm machine.
bench-crash: setup $(WEB)
	cargo build --release --workspace --bin weir
	lab/bench-crash.sh $(CURDIR)/target/bench-crash $(WEIR)

# What a load from 2, 5 and 10 agents costs bus, conductor and hosts; 64 connections of one process beside those of four
# agents; ten minutes of four agents on busy cores: no false loss. All on this host; 20 minutes.
# BENCH_AGENTS="cost": one part.
bench-agents: setup $(WEB)
	scripts/install-mysql.sh --nats
	cargo build --release --workspace --bin weir
	lab/bench-agents.sh $(CURDIR)/target/bench-agents $(WEIR) $(BENCH_AGENTS)

# How long a reader waits for a report of 100 runs, and for `weir serve` over 2,000 runs and 10 million
# samples, in a real browser; about 10 minutes and 2 GB of disk.
bench-web: setup-tests $(WEB)
	cargo build --release --workspace --bin weir --bin make_store
	cd web && npm ci --no-audit --no-fund --loglevel=error
	lab/bench-web.sh $(CURDIR)/target/bench-web $(WEIR)

# The crash lab's table of docs/crash-lab.md: hours. It goes on where it was stopped.
crash-table: setup $(WEB)
	cargo build --release --workspace --bin weir --bin crash_table
	lab/crash-table.sh $(CURDIR)/target/crash-table $(WEIR)
	target/release/crash_table $(CURDIR)/target/crash-table

# The power-cut test's table of docs/powercut.md: five recordings of a writer, cut by every rule.
powercut-table: setup
	WEIR_POWERCUT_RECORDINGS=5 cargo nextest run --package weir --no-capture -E 'test(powercut::each_lie)'

# .deb, .rpm, .tar.xz, an OCI image, a list of the crates (CycloneDX) and checksums, in target/packages; some minutes.
packages: $(WEB)
	scripts/setup.sh --packages
	scripts/packages.sh

# The packages installed, run and purged in a small Debian; lintian and rpmlint; the image unpacked. Needs root.
package-test:
	scripts/setup.sh --package-test
	scripts/test-packages.sh

# Licences, unwanted crates and sources of all crates (deny.toml).
deny:
	scripts/setup.sh --deny
	cargo deny --all-features check licenses bans sources

clean:
	cargo clean
	rm -rf web/dist web/node_modules
