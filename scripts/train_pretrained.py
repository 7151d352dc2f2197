"""Learn the transforms that ship inside the package. Run by hand where ../shared is; results are committed.

    python scripts/train_pretrained.py glove.6B.50d ../shared/data/wiki/enwiki.txt.xz
    python scripts/train_pretrained.py glove.6B.100d ../shared/data/wiki/enwiki.txt.xz --vectors DIR/glove.6B.100d.npy

(`../shared/data/get-glove-100d DIR` fetches the vectors of the second.)
"""

import argparse
from dataclasses import replace
from pathlib import Path

from alacarte import ALaCarte, WordVectors

FOLDER = Path(__file__).resolve().parents[1] / "src" / "alacarte" / "pretrained"

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("name", help="name of the vectors, and of the file to write")
parser.add_argument("corpus", help="text to learn from, a document a line")
parser.add_argument("--vectors", help="where the vectors are, if not an installed package")
parser.add_argument("--window", type=int, default=10)
parser.add_argument("--tau", type=int, default=1000)
arguments = parser.parse_args()

vectors = WordVectors.load(arguments.vectors or arguments.name)
model = ALaCarte.fit(vectors, arguments.corpus, window=arguments.window, weighting=arguments.tau)
replace(model.transform, name=arguments.name).save(FOLDER / f"{arguments.name}.safetensors")
report = (
    f"{arguments.name}, learned on {Path(arguments.corpus).name} by scripts/train_pretrained.py\n\n{model.report}\n"
)
(FOLDER / f"{arguments.name}.txt").write_text(report, encoding="utf-8")
print(report)
