"""Learn the transforms that ship inside the package. Run by hand where ../shared is; results are committed.

    python scripts/train_pretrained.py glove.6B.50d ../shared/data/wiki/enwiki.txt.xz
    python scripts/train_pretrained.py glove.6B.100d ../shared/data/wiki/enwiki.txt.xz --vectors DIR/glove.6B.100d.npy

(`../shared/data/get-glove-100d DIR` fetches the vectors of the second.)
"""

import argparse
from dataclasses import replace

from alacarte import ALaCarte, WordVectors
from alacarte.saving import PRETRAINED

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("name", help="name of the vectors, and of the model")
parser.add_argument("corpus", help="text to learn from, a document a line")
parser.add_argument("--vectors", help="where the vectors are, if not an installed package")
parser.add_argument("--window", type=int, default=10)
parser.add_argument("--tau", type=int, default=1000)
arguments = parser.parse_args()

vectors = WordVectors.load(arguments.vectors or arguments.name)
model = ALaCarte.fit(vectors, arguments.corpus, window=arguments.window, weighting=arguments.tau)
named = WordVectors(vectors.words, vectors.matrix, name=arguments.name, source=arguments.name)
ALaCarte(named, replace(model.transform, name=arguments.name)).save(PRETRAINED / arguments.name)
print(model.report)
print("Now learn the rest of the model anew: scripts/train_fusion.py, scripts/typical_spread.py")
