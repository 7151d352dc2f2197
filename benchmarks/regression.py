"""Speed and memory of embedding regression, beside R's conText.

    python benchmarks/regression.py            all cases
    python benchmarks/regression.py jackknife  one of them

Where R and conText are installed they run side by side on conText's bundled corpus; else the times recorded with
R 4.2.2 and conText 3.0.1 (../shared/data/regression/context-golden/README.md, SPEC.md) stand beside ours. Each case
runs in a process of its own, so that its peak memory is its own; CPU time counts all threads.
"""

import json
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "regression" / "context-golden"
RECORDED = {  # seconds of CPU, GB
    "jackknife": (25 * 60.0, None, "924 contexts, 2 covariates, d = 300: about 25 minutes of CPU"),
    "clusters": (693.34, None, "the same, 286 clusters left out in turn: 693 s"),
    "permutations": (479.0, 8.2, "100 permutations, 200,000 contexts, d = 300: 479 s of CPU, 8.2 GB"),
    "studentised": (479.0, 8.2, "as above; R permutes the plain norm only"),
    "end to end": (None, None, "text to table: contexts, embeddings, 999 permutations, intervals"),
    "another word": (None, None, "the same in documents from which a word was taken before"),
}
OF_SPEECHES = ("end to end", "another word")
R_SCRIPT = """
suppressMessages({library(conText); library(quanteda)})
toks <- tokens(cr_sample_corpus, remove_punct=TRUE, remove_symbols=TRUE, remove_numbers=TRUE, remove_separators=TRUE)
toks <- tokens_select(toks, pattern=stopwords("en"), selection="remove", min_nchar=3)
feats <- featnames(dfm_trim(dfm(toks, tolower=TRUE), min_termfreq=5))
toks <- tokens_select(toks, feats, padding=TRUE)
t <- system.time(conText(immigration ~ party + gender, data=toks, pre_trained=cr_glove_subset, transform=TRUE,
  transform_matrix=cr_transform, jackknife=TRUE, permute=FALSE, window=6, verbose=FALSE))
cat(t[["user.self"]] + t[["sys.self"]], "\n")
"""


def contexts_like_conText():
    """(X, Y, clusters) of 924 contexts of "immigration", or as many random ones where the data are not there."""
    if SHARED.is_dir():
        import lzma

        from alacarte.regression import compat

        with lzma.open(SHARED / "inputs" / "tokens_nostop_feats.jsonl.xz", "rt") as file:
            rows = [json.loads(line) for line in file]
        data = {key: [row["docvars"][key] for row in rows] for key in rows[0]["docvars"]}
        data |= {"tokens": [row["tokens"] for row in rows]}
        words = (SHARED / "inputs" / "glove_subset.rows.txt").read_text().split()
        vectors = words, np.load(SHARED / "inputs" / "glove_subset.npy")
        transform = np.load(SHARED / "inputs" / "transform.npy")
        found = compat.dem(compat.tokens_context(data, "immigration"), vectors, transform)
        columns = found.variables.columns
        x = np.column_stack([np.ones(len(found)), columns["party"] == "R", columns["gender"] == "M"]).astype(float)
        return x, found.matrix, found.own["document"]
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(924), rng.integers(0, 2, (924, 2))]).astype(float)
    return x, rng.normal(size=(924, 300)), rng.integers(0, 286, 924)


def many_contexts(count=200_000, dimension=300):
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(count), rng.integers(0, 2, count), rng.normal(size=count)])
    y = rng.standard_normal((count, dimension))
    y += x[:, 1:2] * 0.01
    return x, y


def case(name):
    """(what was done, seconds, CPU seconds); the data are made before the clock starts."""
    from alacarte.inference import regression_noise

    terms = np.eye(3)[1:]
    if name in ("jackknife", "clusters"):
        x, y, documents = contexts_like_conText()
        codes = np.unique(documents, return_inverse=True)[1] if name == "clusters" else None
        start, cpu = time.perf_counter(), time.process_time()
        fit, _ = regression_noise.least_squares(x, y, codes, equal_clusters=True)
        regression_noise.jackknife(fit, terms)
        done = f"{fit.clusters} units left out, {y.shape[1]} dimensions"
    elif name in ("permutations", "studentised"):
        x, y = many_contexts()
        start, cpu = time.perf_counter(), time.process_time()
        fit, _ = regression_noise.least_squares(x, y, None)
        regression_noise.permute(fit, terms, 100, np.random.default_rng(1), studentised=name == "studentised")
        done = f"100 permutations of {len(y):,} contexts"
    elif name in OF_SPEECHES:
        from alacarte import ALaCarte
        from alacarte.regression import contexts, dem, documents, read_table, regress

        frame = read_table(SHARED.parent / "sotu.jsonl.xz")
        model = ALaCarte.pretrained("glove.6B.50d")
        if name == "another word":
            frame = documents(frame, known=model)
            dem(contexts(frame, "liberty"), model)
        start, cpu = time.perf_counter(), time.process_time()
        fit = regress("freedom ~ party + Date", frame, model, cluster=["FirstName", "President"])
        done = f"245 speeches, 2.0M words, {len(fit)} contexts"
    else:
        sys.exit(f"no case {name!r}; there are {', '.join(RECORDED)}")
    return done, time.perf_counter() - start, time.process_time() - cpu


def run(name):
    place = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {place!r}); import regression; regression.report({name!r})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


def report(name):
    done, wall, cpu = case(name)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(json.dumps({"done": done, "wall": wall, "cpu": cpu, "peak": peak}))


def r_seconds():
    """CPU seconds of conText's jackknife, or None where R or conText is not installed."""
    if shutil.which("Rscript") is None:
        return None
    found = subprocess.run(["Rscript", "-e", R_SCRIPT], capture_output=True, text=True, check=False)
    return float(found.stdout.split()[-1]) if found.returncode == 0 else None


def main():
    chosen = sys.argv[1:] or [name for name in RECORDED if name not in OF_SPEECHES or SHARED.is_dir()]
    here = r_seconds() if "jackknife" in chosen else None
    print(f"{'case':<14}{'wall s':>9}{'CPU s':>9}{'peak GB':>9}{'R CPU s':>10}{'faster':>9}  what")
    for name in chosen:
        if name not in RECORDED:
            sys.exit(f"no case {name!r}; there are {', '.join(RECORDED)}")
        found = run(name)
        theirs, _, what = RECORDED[name]
        if name == "jackknife" and here is not None:
            theirs, what = here, "R run beside it now"
        factor = f"{theirs / found['cpu']:,.0f}×" if theirs else "–"
        shown = f"{theirs:,.0f}" if theirs else "–"
        numbers = f"{found['wall']:>9.2f}{found['cpu']:>9.2f}{found['peak']:>9.2f}"
        beside = f" (R: {what})" if theirs else ""
        print(f"{name:<14}{numbers}{shown:>10}{factor:>9}  {found['done']}{beside}")


if __name__ == "__main__":
    main()
