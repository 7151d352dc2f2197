"""Learn how much spelling counts beside contexts for the transforms that ship. Run by hand; results are committed.

    python scripts/train_fusion.py glove.6B.50d ../shared/data/wiki/enwiki.txt.xz
    python scripts/train_fusion.py glove.6B.100d ../shared/data/wiki/enwiki.txt.xz --vectors DIR/glove.6B.100d.npy

The transforms themselves stay as they are (scripts/train_pretrained.py); form models are not shipped but learned from
the vectors when first asked for, and kept in the user's cache.
"""

import argparse

from alacarte import ALaCarte, ContextSums
from alacarte.saving import PRETRAINED
from alacarte.spelling.fusion import learn_form

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("name", help="name of the vectors, and of the model")
parser.add_argument("corpus", help="the text the transform was learned from, a document a line")
parser.add_argument("--vectors", help="where the vectors are, if not an installed package")
parser.add_argument("--tau", type=int, default=1000)
arguments = parser.parse_args()

model = ALaCarte.pretrained(arguments.name, vectors=arguments.vectors)
settings = model.settings
sums = ContextSums.collect(
    model.vectors,
    arguments.corpus,
    window=(settings.left, settings.right),
    averaging=settings.averaging,
    positions=settings.positions,
    context_weights=model.transform.weights,
    tokenizer=settings.tokenizer,
)
form, fusion = learn_form(model.vectors, sums, arguments.corpus, solve={"weighting": arguments.tau})
(PRETRAINED / arguments.name / "fusion.json").write_text(fusion.to_json(), encoding="utf-8")
print(form, f"ridge {form.ridge:g}")
for item in (*form.quality, *fusion.report):
    print(item)
