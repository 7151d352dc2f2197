"""How fast is the engine, against what, how much memory does it hold, and are its sums exact? One command, one run.

    python benchmarks/engine.py CORPUS VECTORS [VECTORS …] [--against PATH] [--quick]

CORPUS is text, a document a line, plain or compressed. The first VECTORS give the vocabulary; each is used for its own
number of dimensions, and random vectors over that vocabulary for the others of 50, 100 and 300. `--against` is the
folder of another version, with `src` in it; its rounds alternate with those of this one. The cases are in
`engine_cases.py`, and each runs in a process of its own; `--only` names some of them by a part of their name. Run it
without OPENBLAS_NUM_THREADS, as users do.
"""

import argparse
import json
import lzma
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from alacarte import Corpus, WordVectors

HERE = Path(__file__).resolve().parent
DIMENSIONS = (50, 100, 300)
PROFILES: dict[str, dict[str, Any]] = {
    "every word, d = 100": {"dimension": 100},
    "every word, d = 300": {"dimension": 300},
    "10 words, d = 100": {"dimension": 100, "targets": "10"},
    "10k n-grams, d = 100": {"dimension": 100, "targets": "10k"},
    "1M n-grams, d = 100": {"dimension": 100, "targets": "1M"},
}
Result = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One line of the first table: what is run, by which versions, and what is wanted of it."""

    name: str
    function: str
    options: dict[str, Any]
    faster: float | None = None  # wanted: so many times as fast as the other version
    seconds: float | None = None  # wanted: no more than that
    unit: str = "Mtok/s"
    both: bool = True  # whether the other version has it, too


@dataclass
class Bench:
    given: argparse.Namespace
    work: Path
    results: dict[str, dict[str, Result]] = field(default_factory=dict)  # by case, by version: the best round
    load: list[float] = field(default_factory=list)

    # ------------------------------------------------------------------------------------------- data

    def prepare(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        given = {vectors.dimension: vectors for vectors in map(WordVectors.load, reversed(self.given.vectors))}
        words = WordVectors.load(self.given.vectors[0]).words
        for dimension in DIMENSIONS:
            path = self.work / f"d{dimension}.npy"
            if not path.exists():
                note(f"vectors of {dimension} dimensions")
                values = np.random.default_rng(dimension).standard_normal((len(words), dimension), dtype=np.float32)
                (given.get(dimension) or WordVectors(words, values)).save(path)
        self.text = self._slice(f"{self.given.tokens:g}.txt", int(self.given.tokens * 5.4))  # bytes a token, about
        self.short = self._slice("short.txt", 5_400_000)
        self._slice("1MB.txt", 1_000_000)
        self.parts = self._parts(4)
        (self.targets,) = self.rounds("prepare_targets", ["new"], 1, text=self.text, most=1_000_000)["new"]

    def _slice(self, name: str, size: int) -> str:
        """The first whole lines of the corpus with about so many bytes."""
        path, text = self.work / name, bytearray()
        if not path.exists():
            for block in Corpus(self.given.corpus).blocks(1 << 18):
                text += block.text or b""
                if len(text) >= size:
                    break
            path.write_bytes(text[: text.rfind(b"\n", 0, size) + 1])
        return name

    def _parts(self, number: int) -> list[str]:
        """The slice, compressed; and the same in several files."""
        lines = (self.work / self.text).read_bytes().splitlines(keepends=True)
        step = -(-len(lines) // number)
        contents = {f"{self.text}-{part}.xz": lines[part * step : (part + 1) * step] for part in range(number)}
        for name, part in {f"{self.text}.xz": lines, **contents}.items():
            if not (self.work / name).exists():
                note(f"compressing {name}")
                (self.work / name).write_bytes(lzma.compress(b"".join(part), preset=1))
        return list(contents)

    # --------------------------------------------------------------------------------------- measuring

    def rounds(self, function: str, versions: list[str], repeat: int, **options: Any) -> dict[str, list[Result]]:
        """So many rounds of one case, the versions one after the other in each, a process for each version."""
        sources = {"new": HERE.parent / "src", "old": Path(self.given.against or "") / "src"}
        command = [sys.executable, str(HERE / "engine_cases.py"), function]
        command.append(json.dumps({"work": str(self.work), **options}))
        # Modules compiled beforehand, as for installed packages, wherever their source may not be written to.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(self.work / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        processes = {
            version: subprocess.Popen(
                command,
                env={**environment, "PYTHONPATH": str(sources[version])},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for version in versions
        }
        try:
            for version, process in processes.items():
                if Path(answer(process, function)["ready"]) != sources[version].resolve():
                    raise SystemExit(f"{sources[version]} holds no version of the package")
            measured: dict[str, list[Result]] = {version: [] for version in versions}
            for _ in range(repeat):
                for version, process in processes.items():
                    assert process.stdin is not None
                    print("go", file=process.stdin, flush=True)
                    measured[version].append(answer(process, function))
        finally:
            for process in processes.values():
                process.communicate()
        return measured

    def measure(self) -> None:
        for case in self.cases():
            if self.given.only and self.given.only not in case.name:
                continue
            began = time.perf_counter()
            versions = ["old", "new"] if case.both and self.given.against else ["new"]
            measured = self.rounds(case.function, versions, self.given.repeat, **case.options)
            self.results[case.name] = {version: self._best(case, found) for version, found in measured.items()}
            self.load.append(os.getloadavg()[0])
            shown = "  ".join(f"{version} {self.shown(case, version)}" for version in versions)
            note(f"{case.name:44} {shown}   ({time.perf_counter() - began:.0f} s)")

    def _best(self, case: Case, rounds: list[Result]) -> Result:
        """The quickest round, with the peak of memory over all of them."""
        for result in rounds:
            if "seconds" not in result:
                spent = result["wall"], result["cpu"] / case.options.get("threads", 1)
                result["seconds"] = spent[self.given.clock == "cpu"]
        best = min(rounds, key=lambda result: result["seconds"])
        return {**best, "memory": max(result["memory"] for result in rounds)}

    def cases(self) -> list[Case]:
        text, tokens = self.text, int(self.given.tokens)
        little, some = {"text": text, "tokens": min(tokens, 300_000)}, {"text": text, "tokens": min(tokens, 10_000_000)}
        first = self.given.vectors[0]

        def whole(dimension: int, threads: int, texts: list[str], **more: Any) -> dict[str, Any]:
            return {"dimension": dimension, "threads": threads, "texts": texts, **more}

        found = [
            Case("encode, one core", "encode", {"text": text}, faster=4),
            Case("encode: regex + dict", "encode_regex", little, both=False),
            Case("encode: readable tokenizer", "encode_readable", little, both=False),
            Case("kernel, d = 100, 1 thread", "kernel", {"dimension": 100, "threads": 1, **some}),
            Case("kernel, d = 100, 2 threads", "kernel", {"dimension": 100, "threads": 2, **some}, faster=1.8),
            Case("plain loops, d = 100", "plain_loops", {"dimension": 100, **little}, both=False),
        ]
        for dimension, faster in ((100, 2.5), (300, 1.4)):
            for threads in (2, 1, 16):
                name = f"end to end .txt, d = {dimension}, {threads} thread{'s' if threads > 1 else ''}"
                options = whole(dimension, threads, [text])
                two = threads == 2
                found.append(Case(name, "end_to_end", options, faster=faster if two else None, both=two))
        for name, texts in ((".txt.xz", [f"{text}.xz"]), ("four .txt.xz", self.parts)):
            found.append(Case(f"end to end {name}, d = 100, 2 threads", "end_to_end", whole(100, 2, texts)))
        for name, targets, wanted in (("10 words", "10", 3), ("10k n-grams", "10k", None), ("1M n-grams", "1M", 1.6)):
            options = whole(100, 2, [text], targets=targets)
            found.append(Case(f"induction of {name}, d = 100, 2 threads", "end_to_end", options, faster=wanted))
        for name, vectors in (("50d", first), ("100d", str(self.work / "d100.npy"))):
            options = {"name": "fit", "vectors": vectors}
            found.append(Case(f"`alc fit` on 1 MB, {name}, CPU", "command", options, seconds=1, unit="s"))
        options = {"name": "embed", "vectors": first}
        found.append(Case("`alc embed` of one sentence, 50d, CPU", "command", options, seconds=0.6, unit="s"))
        options = {"name": "import", "vectors": first}
        found.append(Case("`import alacarte`, with Python's start, CPU", "command", options, unit="s"))
        for name, target in (("whole", None), ("around a word", "zorg")):
            options = {"dimension": 300, "target": target}
            found.append(Case(f"one sentence, {name}, d = 300", "sentence", options, seconds=20e-6, unit="µs"))
        for threads in (1, 8):
            options = {"dimension": 100, "threads": threads}
            name = f"ten nearest of all words, each of {threads} at a time, d = 100"
            found.append(Case(name, "nearest", options, unit="ms"))
        if self.given.whole:
            everything = [str(self.given.corpus.resolve())]
            found += [
                Case(f"end to end, all text, d = {dimension}, 2 threads", "end_to_end", whole(dimension, 2, everything))
                for dimension in (100, 300)
            ]
        return found

    def check(self) -> None:
        """What is not a matter of speed: one round each, by the new version alone."""
        cases: dict[str, tuple[str, dict[str, Any]]] = {
            "same bits: every word": ("same_bits", {"text": self.text, "dimension": 50}),
            "same bits: 10k n-grams": ("same_bits", {"text": self.text, "dimension": 100, "targets": "10k"}),
            "difference: GloVe 50d": ("difference", {"text": self.short, "dimension": 50}),
            "difference: heavy tails": ("difference", {"text": self.short, "dimension": 100, "heavy": True}),
            **{f"profile: {name}": ("profile", {"text": self.text, **options}) for name, options in PROFILES.items()},
        }
        for name, (function, options) in cases.items():
            began = time.perf_counter()
            repeat = self.given.repeat if function == "profile" else 1
            rounds = self.rounds(function, ["new"], repeat, **options)["new"]
            if function == "profile":
                steps = rounds[0]["nanoseconds"]
                rounds[0]["nanoseconds"] = {step: min(one["nanoseconds"][step] for one in rounds) for step in steps}
            self.results[name] = {"new": rounds[0]}
            note(f"{name:44} ({time.perf_counter() - began:.0f} s)")

    # ------------------------------------------------------------------------------------------ report

    def rate(self, name: str) -> float:
        result = self.results[name]["new"]
        return float(result["tokens"] / result["seconds"])

    def shown(self, case: Case, version: str) -> str:
        result = self.results[case.name].get(version)
        if result is None:
            return ""
        if case.unit == "Mtok/s":
            return f"{result['tokens'] / result['seconds'] / 1e6:.2f} {case.unit}"
        return f"{result['seconds'] * {'µs': 1e6, 'ms': 1e3}.get(case.unit, 1):.2f} {case.unit}"

    def report(self) -> str:
        repeat, load = self.given.repeat, f"{min(self.load):.1f} to {max(self.load):.1f}"
        lines = [
            f"Machine: {processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
            f"NumPy {np.__version__}; {date.today().isoformat()}; load {load}; clock: {self.given.clock}; "
            f"best of {repeat}, old and new in turn.",
            f"Text: {self.given.corpus.name}, a slice of {self.results['encode, one core']['new']['tokens']:,} tokens; "
            f"window 10; {self.targets['targets']:,} n-grams, the rarest met {self.targets['rarest']} times.",
            "",
            "| case | old | new | ratio | wanted | |",
            "|---|---:|---:|---:|---:|---|",
            *map(self._line, self.cases()),
            "",
            "| | wanted | measured | |",
            "|---|---:|---:|---|",
            *(f"| {name} | {wanted} | {shown} | {reached(yes)} |" for name, wanted, shown, yes in self.goals()),
            "",
        ]
        steps = list(self.results[f"profile: {next(iter(PROFILES))}"]["new"]["nanoseconds"])
        lines += [f"| CPU time a token, ns | {' | '.join(steps)} | all |", "|---|" + "---:|" * (len(steps) + 1)]
        for name in PROFILES:
            spent = self.results[f"profile: {name}"]["new"]["nanoseconds"]
            cells = " | ".join(f"{spent[step]:.0f}" for step in steps)
            lines.append(f"| {name} | {cells} | {sum(spent.values()):.0f} |")
        return "\n".join(lines)

    def _line(self, case: Case) -> str:
        found = self.results[case.name]
        ratio, wanted, verdict = "", "", ""
        if "old" in found:
            quicker = found["old"]["seconds"] / found["new"]["seconds"]
            ratio = f"{quicker:.2f} ×"
            if case.faster:
                wanted, verdict = f"≥ {case.faster:g} ×", reached(quicker >= case.faster)
        if case.seconds:
            amount = f"{case.seconds * 1e6:.0f} µs" if case.unit == "µs" else f"{case.seconds:.1f} s"
            wanted, verdict = f"≤ {amount}", reached(found["new"]["seconds"] <= case.seconds)
        cells = self.shown(case, "old"), self.shown(case, "new"), ratio, wanted, verdict
        return f"| {case.name} | {' | '.join(cells)} |"

    def goals(self) -> list[tuple[str, str, str, bool]]:
        """(what, wanted, measured, whether it is reached) for all that the new version is measured against itself."""
        rate, found = self.rate, list[tuple[str, str, str, bool]]()
        two = "end to end .txt, d = {}, 2 threads"
        loops = rate(two.format(100)) / rate("plain loops, d = 100")
        found.append(("end to end, d = 100, 2 threads / plain loops", "≥ 200 ×", f"{loops:.0f} ×", loops >= 200))
        both = rate("kernel, d = 100, 2 threads") / rate("kernel, d = 100, 1 thread")
        found.append(("kernel, d = 100: 2 threads / 1", "≥ 1.85 ×", f"{both:.2f} ×", both >= 1.85))
        for dimension in (100, 300):
            many = rate(f"end to end .txt, d = {dimension}, 16 threads") / rate(two.format(dimension))
            found.append((f"end to end, d = {dimension}: 16 threads / 2", "≥ 90 %", f"{100 * many:.0f} %", many >= 0.9))
        one, eight = (
            self.results[f"ten nearest of all words, each of {threads} at a time, d = 100"]["new"]["seconds"]
            for threads in (1, 8)
        )
        slower = eight / one / max(1.0, 8 / (os.cpu_count() or 1))
        found.append(("ten nearest: 8 threads / 1, for each core", "≤ 1.5 ×", f"{slower:.2f} ×", slower <= 1.5))
        equal = self.results["encode: readable tokenizer"]["new"]
        found.append((f"ids of the readable tokenizer, {equal['tokens']:,} tokens", "equal", *yes_no(equal["equal"])))
        for name in ("every word", "10k n-grams"):
            result = self.results[f"same bits: {name}"]["new"]
            digests = set(result["digests"].values())
            what = f"digests of the sums of {name}, {len(result['digests'])} ways"
            found.append((what, "1", f"{len(digests)} ({', '.join(sorted(digests))})", len(digests) == 1))
            found.append((f"(a + b) − b == a, {name}", "equal", *yes_no(result["taken away"])))
        for name, title in (("GloVe 50d", "first vectors, d = 50"), ("heavy tails", "Student t, 2 df, d = 100")):
            result = self.results[f"difference: {name}"]["new"]
            share = result["largest value"]
            what = f"largest difference from float64 / length of the row, {title}, {result['tokens']:,} tokens"
            found.append((what, "≤ 1e-6", f"{share:.1e} (the whole row: {result['length']:.1e})", share <= 1e-6))
        for name, versions in self.results.items():
            result = versions["new"]
            if "sums" in result:
                limit = 1.2 * (2 * result["vectors"] + result["sums"]) + 0.5e9
                shown = f"{result['memory'] / 1e9:.2f} GB"
                if "old" in versions:
                    shown += f" (old: {versions['old']['memory'] / 1e9:.2f})"
                found.append((f"peak memory: {name}", f"≤ {limit / 1e9:.2f} GB", shown, result["memory"] <= limit))
        return found


def answer(process: "subprocess.Popen[str]", function: str) -> Result:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"{function} failed: {process.args}")
    result: Result = json.loads(line)
    return result


def reached(yes: bool) -> str:
    return "reached" if yes else "**missed**"


def yes_no(equal: bool) -> tuple[str, bool]:
    return "equal" if equal else "not equal", equal


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("vectors", nargs="+", help="files or names; the first gives the vocabulary")
    parser.add_argument("--against", type=Path, help="folder of another version, with src in it")
    parser.add_argument("--tokens", type=float, help="length of the slice (default: 20e6)")
    parser.add_argument("--repeat", type=int, help="rounds of each case, the best counts (default: 3)")
    parser.add_argument("--quick", action="store_true", help="a slice of 3e6 tokens, two rounds")
    parser.add_argument("--only", help="the cases with this in their name, and no report")
    parser.add_argument("--whole", action="store_true", help="also the whole corpus, end to end")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: where others use the machine")
    parser.add_argument("--work", type=Path, help="folder for slices and vectors (default: a temporary one)")
    parser.add_argument("--out", type=Path, help="all figures as JSON")
    given = parser.parse_args()
    given.tokens = given.tokens or (3e6 if given.quick else 20e6)
    given.repeat = given.repeat or (2 if given.quick else 3)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given, (given.work or Path(folder)).resolve())
        bench.prepare()
        bench.measure()
        if given.only:
            return
        bench.check()
        if given.out:
            given.out.write_text(json.dumps(bench.results, indent=1))
        print(bench.report())


if __name__ == "__main__":
    main()
