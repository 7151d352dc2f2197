"""fastText's supervised classifier (Joulin et al. 2017), which learns word vectors and classes at once.

It has no features to hand on, so it takes the place of features and classifier together. Ten hidden units and bigrams
are its paper's settings for sentiment; learning rate and epochs are chosen as C is for the others.
"""

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte.errors import require
from alacarte_experiments.documents.systems import Ingredients

SETTINGS = ((0.1, 5), (0.5, 5), (0.1, 25), (0.5, 25), (1.0, 25))  # learning rate, epochs
LABEL = "__label__"


class FastText:
    """Learns from rows of a task: called with rows and settings, it gives a predictor for each setting."""

    def __init__(self, given: Ingredients, labels: Sequence[str], n: int = 2) -> None:
        self.module: Any = require("fasttext", extra="fasttext", purpose="fastText's classifier")
        known = given.words.key_to_index
        self.lines = [" ".join(given.tokenizer(text, known)) for text in given.texts]
        self.classes, self.numbers = np.unique(np.array(labels), return_inverse=True)
        self.n, self.seed = n, given.seed

    def __call__(self, rows: npt.NDArray[np.intp], settings: Sequence[tuple[float, int]]) -> Iterator[Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "train.txt"
            chosen = [f"{LABEL}{self.numbers[row]} {self.lines[row]}\n" for row in rows.tolist()]
            # It takes lines one by one in a slowly falling rate, so the classes must not come one after the other.
            order = np.random.default_rng(self.seed).permutation(len(chosen))
            path.write_text("".join(chosen[place] for place in order.tolist()), encoding="utf-8")
            for rate, epochs in settings:
                model = self.module.train_supervised(
                    str(path), lr=rate, epoch=epochs, dim=10, wordNgrams=self.n, thread=1, verbose=0, seed=self.seed
                )
                yield partial(self._predict, model)

    def _predict(self, model: Any, rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        labels, _ = model.predict([self.lines[row] for row in rows.tolist()])
        return np.array([self.classes[int(predicted[0].removeprefix(LABEL))] for predicted in labels])
