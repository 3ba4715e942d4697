# Flick. `make demo` and `make test` are all that a visitor needs; `make help` lists the rest.
#
# Everything is built into build/, which has the shape of an installed tree (docs/formats.md).
SHELL := /bin/bash
.DEFAULT_GOAL := build

BUILD := $(CURDIR)/build
PREFIX ?= /usr/local
DESTDIR ?=
# rustup's place, for shells that did not read its environment file.
CARGO ?= $(or $(shell command -v cargo),$(wildcard $(HOME)/.cargo/bin/cargo),cargo)
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
LIB := $(BUILD)/lib/flick
# The C headers that crates/abi makes.
HEADERS := $(BUILD)/obj/include
SHARE := $(BUILD)/share
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
export CARGO
export CARGO_TARGET_DIR := $(TARGET)
export FLICK_ROOT := $(BUILD)

say = @printf '\033[1m==> %s\033[0m\n' "$(1)"

help:
	@echo 'make            build into build/'
	@echo 'make deps       install the Debian packages that are missing (apt-get; sudo when not root)'
	@echo 'make demo       deps, build, and breadth-first search over the package graph of Debian'
	@echo 'make check      build, and the checks of the inner loop (under five minutes on two cores, beside the build)'
	@echo 'make test       deps, build, all checks and tests (under 30 minutes on two cores)'
	@echo 'make test-full  the same with the full product of link modes'
	@echo 'make real       zlib, bzip2 and lz4 with their hottest functions on the NxP (fetches Debian sources)'
	@echo 'make realworld  SQLite, Lua, zstd, ... and C++ programs with 10, 50 and 100 % of their functions on the NxP'
	@echo '                (fetches crates and Debian sources; some 15 minutes on two cores)'
	@echo 'make strangers  the tests of GCC that run, at three levels, two placements, on every engine, against plain clang'
	@echo '                (some 40 minutes on two cores; SUITE=DIR: LLVM'"'"'s test-suite, too; STRANGERS=OPTIONS)'
	@echo 'make random     thousands of random RV64 programs on every engine and on qemu-riscv64 (minutes)'
	@echo 'make libcalls   what LLVM may call, at each level, with each kind of flags, against clang (some ten minutes)'
	@echo 'make bless      write anew what tests hold the translator against: its code, instruction counts'
	@echo 'make fuzz       libFuzzer on decoder, translator, traces, devices and machine files (six minutes; fuzz/run.sh --seconds N)'
	@echo 'make bench      what a crossing costs on this machine'
	@echo 'make linux      boot Debian for riscv64 on the simulated machine (fetches its packages)'
	@echo 'make paper      the tables and figures of the papers, predicted, in bench/paper/results (twenty minutes, 2.5 GiB;'
	@echo '                SNAP=DIR: the real graphs, from there; GRAPHS=epinions,pokec: only these)'
	@echo 'make bench-compile  compile and link time against plain clang (fetches Debian sources)'
	@echo 'make install    copy build/ to PREFIX (/usr/local); honours DESTDIR'
	@echo 'make deb        a Debian package, in build/deb/'
	@echo 'make clean      remove what was built'

deps:
	@scripts/deps.sh

build: rust pass nxp firmware card tree

PRODUCTS := $(addprefix -p ,flick-cli flick-shared flick-static flick-debug flick-card)
rust:
	$(call say,Building the command and the runtime (cargo))
	$(CARGO) build --release $(PRODUCTS)

# After rust, which fills cargo's directory with what both need. By themselves, the packages of the examples
# would be built again: with fewer features of others.
headers: rust
	$(CARGO) build -q --release $(PRODUCTS) -p flick-abi -p flick-runtime --example c-headers --example near-crossing
	$(TARGET)/release/examples/c-headers $(HEADERS)
	$(TARGET)/release/examples/near-crossing $(HEADERS)

pass: headers
	$(call say,Building the compiler pass (CMake))
	cmake --log-level=NOTICE -G 'Unix Makefiles' -S pass -B $(BUILD)/obj/pass -DFLICK_HEADERS=$(HEADERS) -DCMAKE_CXX_COMPILER=$(CXX)
	$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc)) -C $(BUILD)/obj/pass

nxp: headers
	$(call say,Building the library of the RISC-V side)
	$(MAKE) -C nxp OUT=$(BUILD)/obj/nxp HEADERS=$(HEADERS)

# A machine without a compiler for the card's harts has everything else. The kernel of the feature host
# serves programs of the host. The symmetric kernel is for measurements and tests alone.
firmware:
	$(call say,Building the kernel of the card)
	@{ scripts/firmware.sh build $(BUILD)/obj/card/kernel.elf && \
	   scripts/firmware.sh build $(BUILD)/obj/card/kernel-host.elf --features host && \
	   scripts/firmware.sh build $(BUILD)/obj/card/kernel-alone.elf --features alone && \
	   scripts/firmware.sh build $(BUILD)/obj/card/kernel-root.elf --features root && \
	   scripts/firmware.sh build $(BUILD)/obj/card/kernel-host-root.elf --features host,root && \
	   scripts/firmware.sh program file-server $(BUILD)/obj/card/file-server && \
	   scripts/firmware.sh program pipe-server $(BUILD)/obj/card/pipe-server && \
	   scripts/firmware.sh program terminal-server $(BUILD)/obj/card/terminal-server && \
	   scripts/firmware.sh build $(BUILD)/obj/card/kernel-symmetric.elf --features symmetric; } || \
	  [ $$? = 77 -a -z "$${CI:-}" ]

# The program for hosts of RISC-V, which is a file for others.
extensions: headers
	$(call say,Building the program for hosts of RISC-V)
	@scripts/extensions.sh build $(BUILD)/obj/riscv64/flick || [ $$? = 77 ]

# The library of the card's programs is over picolibc, which not every system has.
PICOLIBC := /usr/lib/picolibc/riscv64-unknown-elf
card: headers
	$(call say,Building the libraries of the card)
	@if [ -e $(PICOLIBC)/include/release ]; then \
	  $(MAKE) -C firmware/lib OUT=$(BUILD)/obj/card HEADERS=$(HEADERS); \
	else \
	  echo 'card: skipped: picolibc is missing (make deps)'; [ -z "$${CI:-}" ]; \
	fi
	@scripts/card-cxx.sh $(BUILD)/obj/card/c++ || [ $$? = 77 -a -z "$${CI:-}" ]

# Put together in one go: nothing here takes time, and a file that is gone from the sources does not
# live on. `install` makes new files, so that a program that runs on the old library is not hurt.
tree: rust pass nxp firmware card extensions
	$(call say,Putting $(BUILD) together)
	@rm -rf $(SHARE)
	@mkdir -p $(BUILD)/{bin,include,lib/pkgconfig} $(LIB) $(SHARE)/{flick/bench,flick/cmake,flick/examples,doc/flick}
# The command names the pass that belongs to it: to a compiler cache it is the compiler.
	@sha256sum <$(BUILD)/obj/pass/flick-pass.so >$(BUILD)/obj/pass/hash
	@llvm-objcopy-19 --add-section=.flick.pass=$(BUILD)/obj/pass/hash $(TARGET)/release/flick $(BUILD)/obj/flick
	@install -m 755 $(BUILD)/obj/flick $(BUILD)/bin/flick
	@ln -sfn flick $(BUILD)/bin/flick-cc
	@ln -sfn flick $(BUILD)/bin/flick-c++
	@mkdir -p $(LIB)/linker && for name in ld ld.lld; do ln -sfn ../../../bin/flick $(LIB)/linker/$$name; done
	@$(BUILD)/bin/flick generate $(SHARE)
	@mkdir -p $(SHARE)/flick/gdb
	@install -m 644 gdb/flick.py $(SHARE)/flick/gdb/flick.py
	@install -m 644 include/flick.h include/flick_accelerator.h $(HEADERS)/flick_dtu.h $(BUILD)/include/
# The crate with which users write logic of accelerators is no member of a workspace there.
	@mkdir -p $(SHARE)/flick/accelerator/src && cp crates/accelerator/src/*.rs $(SHARE)/flick/accelerator/src
	@sed '/^#/d; /workspace = true/d; /^\[lints\]/d; s/^name = .*/&\nversion = "$(VERSION)"\nedition = "2024"/' \
	  crates/accelerator/Cargo.toml >$(SHARE)/flick/accelerator/Cargo.toml
	@soname=$$(readelf -d $(TARGET)/release/libflick.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p') && \
	  rm -f $(LIB)/libflick.so* && \
	  install -m 755 $(TARGET)/release/libflick.so $(LIB)/$$soname && \
	  ln -s $$soname $(LIB)/libflick.so && \
	  install -m 644 gdb/flick.py $(LIB)/$$soname-gdb.py
# Names of its own functions would be among those that gdb stops at.
	@install -s -m 755 $(TARGET)/release/libflick_debug.so $(LIB)/libflick-debug.so
	@install -s -m 755 $(TARGET)/release/libflick_card.so $(LIB)/libflick-card.so
	@scripts/static-library.sh $(TARGET)/release/libflick_static.a $(LIB)/libflick.a
	@install -m 755 $(BUILD)/obj/pass/flick-pass.so $(LIB)/
	@install -m 644 $(BUILD)/obj/nxp/libnxp.a $(BUILD)/obj/nxp/flickcrt.o $(BUILD)/obj/nxp/libflick-{time,files}.a $(LIB)/
	@install -m 755 $(BUILD)/obj/nxp/libflick-time.so $(LIB)/
	@rm -rf $(LIB)/card
	@for file in $(BUILD)/obj/card/{kernel*.elf,file-server,pipe-server,terminal-server}; do if [ -e $$file ]; then install -D -m 644 -t $(LIB)/card $$file; fi; done
	@if [ -e $(BUILD)/obj/card/libcard.a ]; then \
	  mkdir -p $(LIB)/card/include && cp -R firmware/lib/include/. $(LIB)/card/include && \
	  install -D -m 644 $(HEADERS)/flick/card.h $(LIB)/card/include/flick/card.h && \
	  install -m 644 $(BUILD)/obj/card/{crt.o,libcard.a,libpthread.a} $(LIB)/card && \
	  { $(BUILD)/bin/flick card cc -O2 -Wall -Wextra -Werror -Ifirmware/lib/src -Wl,-s \
	      firmware/servers/*.c -o $(BUILD)/obj/card/servers && \
	    install -m 644 $(BUILD)/obj/card/servers $(LIB)/card && \
	    $(BUILD)/bin/flick card cc -O2 -Wall -Wextra -Werror -pthread -Wl,-s firmware/shell/*.c -o $(BUILD)/obj/card/shell && \
	    install -m 644 $(BUILD)/obj/card/shell $(LIB)/card || [ -z "$${CI:-}" ]; }; \
	fi
	@if [ -e $(BUILD)/obj/card/c++/made-of ]; then \
	  mkdir -p $(LIB)/card/c++ && cp -R $(BUILD)/obj/card/c++/{include,libstdc++.a} $(LIB)/card/c++; \
	fi
	@rm -rf $(LIB)/riscv64
	@if [ -e $(BUILD)/obj/riscv64/flick ]; then install -D -m 755 -t $(LIB)/riscv64 $(BUILD)/obj/riscv64/flick; fi
	@install -m 755 cmake/flick-launch $(SHARE)/flick/cmake/
	@install -m 644 cmake/flick-toolchain.cmake $(SHARE)/flick/cmake/
	@for file in FlickConfig FlickConfigVersion; do \
	  sed 's/@VERSION@/$(VERSION)/' cmake/$$file.cmake.in >$(SHARE)/flick/cmake/$$file.cmake || exit 1; done
	@sed 's/@VERSION@/$(VERSION)/' cmake/flick.pc.in >$(BUILD)/lib/pkgconfig/flick.pc
	@cp -R bench/*.[ch] bench/engine $(SHARE)/flick/bench
	@mkdir -p $(SHARE)/flick/bench/paper/nanvix && cp bench/paper/*.[ch] $(SHARE)/flick/bench/paper
	@cp bench/paper/nanvix/*.[ch] $(SHARE)/flick/bench/paper/nanvix
	@mkdir -p $(SHARE)/flick/bench/paper/migration && cp bench/paper/migration/*.c $(SHARE)/flick/bench/paper/migration
	@mkdir -p $(SHARE)/flick/bench/paper/m3x && cp bench/paper/m3x/*.[ch] $(SHARE)/flick/bench/paper/m3x
	@mkdir -p $(SHARE)/flick/platforms && cp platforms/*.toml $(SHARE)/flick/platforms
	@mkdir -p $(SHARE)/flick/machines && cp machines/*.toml $(SHARE)/flick/machines
	@cp -R examples/. tests/projects/tally $(SHARE)/flick/examples
	@cp -R README.md LICENSE-APACHE LICENSE-MIT docs/. $(SHARE)/doc/flick

demo: deps build
	@scripts/demo.sh

check: build
	@scripts/test.sh --check

test: deps build
	@scripts/test.sh

# Format, lints and models of the kernel of the card; a part of `make test`.
test-firmware:
	@scripts/firmware.sh test

test-full: deps build
	@scripts/test.sh --full

real: deps build
	@tests/real/run.sh

realworld: deps build
	@tests/real/world.sh

# STRANGERS: options of scripts/strangers.sh.
strangers: deps build
	@SUITE='$(SUITE)' scripts/strangers.sh $(STRANGERS)

libcalls: build
	@tests/libcalls/matrix.py

fuzz: build
	@fuzz/run.sh

random:
	@FLICK_PROGRAMS=$${FLICK_PROGRAMS:-4000} cargo test -q -p flick-translator --test random

bless: deps build
	@FLICK_BLESS=1 cargo test -q -p flick-translator --test golden
	@FLICK_BLESS=1 tests/counts/run.sh

bench-compile: deps build
	@bench/compile.sh

# PAPER: further options of `flick bench paper`.
paper: build
	@$(BUILD)/bin/flick bench paper $(if $(SNAP),--snap '$(SNAP)') $(if $(GRAPHS),--graphs $(GRAPHS)) $(PAPER)
	@if [ -e $(LIB)/card/kernel.elf ]; then $(BUILD)/bin/flick bench paper nanvix && $(BUILD)/bin/flick bench paper migration && \
	  { [ ! -e $(LIB)/card/kernel-root.elf ] || \
	    if bench/paper/m3x/programs/build.sh $(BUILD)/paper-programs; \
	    then $(BUILD)/bin/flick bench paper m3x --programs $(BUILD)/paper-programs; \
	    else echo 'paper: Figures 6 and 7 of M3x are skipped (above)' && $(BUILD)/bin/flick bench paper m3x; fi; } && \
	  $(BUILD)/bin/flick bench paper firmware $(if $(GRAPHS),--graphs $(GRAPHS)); \
	  else echo 'paper: what needs the kernel of the card is skipped (make says why)'; fi

# LINUX: further options of scripts/linux.sh.
linux: build
	@scripts/linux.sh $(LINUX)

bench: build
	@$(BUILD)/bin/flick bench crossing

install: build
	$(call say,Installing to $(DESTDIR)$(PREFIX))
	@mkdir -p $(DESTDIR)$(PREFIX)
	@cd $(BUILD) && cp -a --no-preserve=ownership bin include lib share $(DESTDIR)$(PREFIX)/

deb: build
	$(call say,Making the Debian package)
	@packaging/deb.sh $(BUILD) $(BUILD)/deb

clean:
	rm -rf $(BUILD)
	$(CARGO) clean

.PHONY: help deps build rust headers pass nxp firmware card extensions test-firmware tree demo check test test-full real realworld strangers libcalls fuzz random bless bench bench-compile paper linux install deb clean
