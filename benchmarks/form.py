"""How long a form model takes to learn, and what it adds to induction.

python benchmarks/form.py                       # 400,000 words × 300 random dimensions, GloVe's words
python benchmarks/form.py --dimension 50 --threads 1
python benchmarks/form.py --induce wiki.txt     # induction with and without spelling
python benchmarks/form.py --induce wiki.txt --spread 16     # with and without spelling and spread
"""

import argparse
import time

import numpy as np

from alacarte import ALaCarte, WordVectors
from alacarte.spelling.form import FormModel

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--dimension", type=int, default=300)
parser.add_argument("--threads", type=int, default=None)
parser.add_argument("--induce", metavar="FILE", help="time induction of rare words from this text instead")
parser.add_argument("--spread", type=int, help="with --induce: sums by so many groups of documents, too")
parser.add_argument("--targets", type=int, default=20_000)
arguments = parser.parse_args()

glove = WordVectors.load("glove.6B.50d")
if arguments.induce:
    model = ALaCarte.pretrained("glove.6B.50d").with_form()
    targets = list(glove.words[100_000 : 100_000 + arguments.targets])
    for form in (False, True, False, True):
        start = time.perf_counter(), time.process_time()
        spread = arguments.spread if form else None
        induced = model.induce(arguments.induce, targets, form=form, spread=spread, threads=1, show_progress=False)
        taken = time.perf_counter() - start[0], time.process_time() - start[1]
        print(f"form={form}: {len(induced):,} vectors, {taken[0]:.1f} s ({taken[1]:.1f} s of processor time)")
else:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(len(glove), arguments.dimension)).astype(np.float32)
    vectors = WordVectors(glove.words, matrix)
    FormModel.fit(vectors.first(2000), threads=1)  # compiles
    start = time.perf_counter(), time.process_time()
    form = FormModel.fit(vectors, threads=arguments.threads)
    taken = time.perf_counter() - start[0], time.process_time() - start[1]
    print(f"{form!r}: {taken[0]:.1f} s ({taken[1]:.1f} s of processor time)")
