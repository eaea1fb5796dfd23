# Everything is one word: `make test`, `make demo`. The first call makes .venv; later calls reuse it.

PYTHON ?= python3
JOBS   ?= 2
VENV   := .venv
PY     := $(VENV)/bin/python
READY  := $(VENV)/.ready-test

# With one test process a core, BLAS threads on top would only fight each other. OMP_NUM_THREADS is left alone,
# because Ritz itself obeys it; tests that want two threads ask for them.
test oldest: export OPENBLAS_NUM_THREADS ?= 1
# Tests begin the program hundreds of times: with this set, each of them would compile all that it imports again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types layers sizes rewritten bench bench-large certify docs oldest

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{printf "%-18s %s\n", $$1, $$2}'

demo: $(READY)  ## fit a real table (wine), show the summary, and say where the report lies
	@mkdir -p build/demo
	$(VENV)/bin/ritz fit src/ritz/data/samples/wine.csv -o build/demo/wine_ritz
	@echo "The report is $(CURDIR)/build/demo/wine_ritz/report.html: open it in a browser"

test: $(READY)  ## all checks, then all tests
	@$(MAKE) --no-print-directory -j $(JOBS) check rewritten
	$(PY) -m pytest -n $(JOBS) --dist loadgroup

check: types lint layers sizes  ## the checks that run no test: lint, format, types, layers, sizes

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(READY)
	$(VENV)/bin/mypy -n $(JOBS)

layers: $(READY)
	$(PY) tools/check_layers.py

sizes: $(READY)
	$(PY) tools/check_sizes.py

# Pytest rewrites the asserts of test files and keeps the result. In a new checkout this is done once, beside mypy,
# instead of in every test process; what is wrong with a file is shown by the tests themselves.
rewritten: $(READY)
	@test -d tests/__pycache__ || $(PY) -m pytest --collect-only -qq > /dev/null || true

bench: $(READY) $(VENV)/.ready-bench  ## speed, accuracy and memory beside scikit-learn, dask-ml, prince and gensim
	$(PY) -m bench
	$(PY) -m bench.rows
	$(PY) -m bench.calls
	$(PY) -m bench.small
	$(PY) -m bench.start
	$(PY) -m bench.stream
	$(PY) -m bench.kernel
	$(PY) -m bench.sparse
	$(PY) -m bench.sparse_pca
	$(PY) -m bench.planner --quick
	$(PY) -m bench.strings
	$(PY) -m bench.digits
	$(PY) -m bench.lecture
	$(PY) -m bench.novelty
	$(PY) -m bench.denoise
	$(PY) -m bench.correspondence
	$(PY) -m bench.rank
	$(PY) -m bench.bootstrap
	$(PY) -m bench.retrieval
	$(PY) -m bench.index
	$(PY) -m bench.text_speed
	$(PY) -m bench.drift
	$(PY) -m bench.neighbours
	$(PY) -m bench.manifold
	$(PY) -m bench.two_tables
	$(PY) -m bench.beyond

bench-large: $(READY)  ## ten million embeddings from a file: 20 GB of disk for a while
	$(PY) -m bench.large

certify: $(READY)  ## the whole truth test: every solver on thousands of problems of known spectrum, models with a number changed, faults of a site, 20,000 hostile model files
	$(PY) -m ritz.testing.certify --all
	$(PY) -m ritz.testing.tensors
	$(PY) -m ritz.testing.mutate
	$(PY) -m ritz.testing.faults
	$(PY) -m ritz.testing.fuzz

docs: $(VENV)/.ready-docs  ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

# The lower bounds of pyproject.toml, taken literally, for what Ritz uses and for the data frames it accepts.
oldest: $(READY)  ## all tests with the oldest versions that pyproject.toml allows
	@mkdir -p build
	$(PY) -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
	frames = [x for x in p['optional-dependencies']['test'] if x.startswith(('pandas', 'polars'))]; \
	print(*(x.replace('>=', '==') for x in p['dependencies'] + frames), sep='\n')" > build/oldest.txt
	test -x build/oldest/bin/python || $(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install -q -e '.[test]' -c build/oldest.txt
	build/oldest/bin/python -m pytest -n $(JOBS) --dist loadgroup

# A stamp file a group of packages; it is made again when pyproject.toml changes.
$(VENV)/.ready-%: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --disable-pip-version-check -e '.[$*]'
	@touch $@
