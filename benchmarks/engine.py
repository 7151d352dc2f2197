"""How fast is the engine, against what, and what does it hold in memory? One command, one run, side by side.

    python benchmarks/engine.py CORPUS VECTORS [VECTORS …] [--tokens 20e6] [--whole] [--out results.json]

CORPUS is text, a document a line, plain or compressed. The first VECTORS give the vocabulary; each is used for its own
number of dimensions, and random vectors over that vocabulary for the others of 50, 100 and 300.
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
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from alacarte import Corpus, WordVectors

DIMENSIONS = (50, 100, 300)
PROFILES: dict[str, dict[str, Any]] = {
    "every word, d = 100": {"dimension": 100},
    "every word, d = 300": {"dimension": 300},
    "10 targets, d = 100": {"dimension": 100, "targets": "targets-10.txt"},
    "10k targets, d = 100": {"dimension": 100, "targets": "targets-10k.txt"},
    "1M targets, d = 100": {"dimension": 100, "targets": "targets-1M.txt"},
}
BEGIN, END = "<!-- benchmarks/engine.py begins -->", "<!-- benchmarks/engine.py ends -->"
Result = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("vectors", nargs="+", help="files or names; the first gives the vocabulary")
    parser.add_argument("--tokens", type=float, default=20e6, help="length of the slice (default: 20e6)")
    parser.add_argument("--whole", action="store_true", help="also the whole corpus, end to end")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each case, the best counts (default: 3)")
    parser.add_argument("--threads", type=int, default=2, help="compared with one (default: 2)")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: where others use the machine")
    parser.add_argument("--work", type=Path, help="folder for slices and vectors (default: a temporary one)")
    parser.add_argument("--out", type=Path, help="all figures as JSON")
    parser.add_argument("--update", type=Path, help="a Markdown file whose marked part is replaced by the report")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, arguments.work or Path(folder))
        bench.prepare()
        bench.measure()
        if arguments.out:
            arguments.out.write_text(json.dumps(bench.results, indent=1))
        report = bench.report()
        print(report)
        if arguments.update:
            arguments.update.write_text(with_report(arguments.update.read_text(), report))


class Bench:
    def __init__(self, arguments: argparse.Namespace, work: Path) -> None:
        self.arguments = arguments
        self.work = work
        self.results: dict[str, Result] = {}
        self.load = [os.getloadavg()[0]]
        work.mkdir(parents=True, exist_ok=True)

    # ------------------------------------------------------------------------------------------- data

    def prepare(self) -> None:
        given = {vectors.dimension: vectors for vectors in map(WordVectors.load, self.arguments.vectors)}
        words = WordVectors.load(self.arguments.vectors[0]).words
        for dimension in DIMENSIONS:
            path = self.work / f"d{dimension}.safetensors"
            if not path.exists():
                note(f"vectors of {dimension} dimensions")
                values = np.random.default_rng(dimension).standard_normal((len(words), dimension), dtype=np.float32)
                (given.get(dimension) or WordVectors(words, values)).save(path)
        del given
        # A token is about 5.4 bytes; the exact number is measured, not assumed.
        self.slices = {}
        for tokens in sorted({self.arguments.tokens, *(n for n in (1e6, 2e6, 5e6, 10e6, 20e6, 40e6))}):
            if tokens <= self.arguments.tokens or self.arguments.whole:
                self.slices[tokens] = self._slice(tokens)
        self.text = self.slices[self.arguments.tokens]
        packed = self.work / (self.text + ".xz")
        if not packed.exists():
            note("compressing")
            packed.write_bytes(lzma.compress((self.work / self.text).read_bytes(), preset=1))
        targets = self.run("prepare_targets", text=self.text, most=1_000_000)
        self.results["targets"] = targets
        if self.arguments.whole and not (self.work / "whole.txt").exists():
            with (self.work / "whole.txt").open("wb") as file:
                for block in Corpus(self.arguments.corpus).blocks():
                    file.write(block.text or b"")

    def _slice(self, tokens: float) -> str:
        name, left = f"slice-{tokens:g}.txt", int(tokens * 5.4)
        if not (self.work / name).exists():
            with (self.work / name).open("wb") as file:
                for block in Corpus(self.arguments.corpus).blocks(1 << 18):
                    file.write((block.text or b"")[: left if left < len(block.text or b"") else None])
                    left -= len(block.text or b"")
                    if left <= 0:
                        break
            raw = (self.work / name).read_bytes()  # whole lines only
            (self.work / name).write_bytes(raw[: raw.rfind(b"\n") + 1])
        return name

    # --------------------------------------------------------------------------------------- measuring

    def run(self, case: str, **options: Any) -> Result:
        """One case in a process of its own."""
        command = [sys.executable, str(Path(__file__)), "--case", case, json.dumps({"work": str(self.work), **options})]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{case} {options} failed")
        self.load.append(os.getloadavg()[0])
        result: Result = json.loads(done.stdout.splitlines()[-1])
        return result

    def add(self, name: str, case: str, **options: Any) -> None:
        options.setdefault("times", self.arguments.repeat)
        began = time.perf_counter()
        result = self.run(case, **options)
        threads = options.get("threads", 1)
        if "wall" in result:
            seconds = result["wall"] if self.arguments.clock == "wall" else result["cpu"] / threads
            result |= {"rate": result["tokens"] / seconds, "threads": threads}
        self.results[name] = result
        rate = f"{result['rate'] / 1e6:8.2f} million tokens/s" if "rate" in result else ""
        note(f"{name:44} {rate}   ({time.perf_counter() - began:.0f} s)")

    def measure(self) -> None:
        text, many = self.text, self.arguments.threads
        tokens = int(self.arguments.tokens)
        little = min(tokens, 300_000)
        both = (1, many)
        # What is compared is measured close together, since the machine is not the same all the time.
        for threads in both:
            self.add(f"encode, {threads} threads", "encode", text=text, threads=threads)
        self._induce("10")
        self.add("encode: regex + dict", "encode_regex", text=text, tokens=min(tokens, 2_000_000))
        self.add("encode: readable tokenizer", "encode_reference", text=text, tokens=little)
        # Kernels and their floor, and the whole way
        some = min(tokens, 10_000_000)
        for dimension in DIMENSIONS:
            shared = {"text": text, "dimension": dimension, "tokens": some}
            for threads in both:
                self.add(f"kernel, d = {dimension}, {threads} threads", "kernel", threads=threads, **shared)
                self.add(f"floor, d = {dimension}, {threads} threads", "floor", threads=threads, **shared)
            for threads in both:
                self.add(
                    f"end to end .txt, d = {dimension}, {threads} threads", "whole_way",
                    text=text, dimension=dimension, threads=threads,
                )  # fmt: skip
            if dimension == 100:
                self.add("plain loops, d = 100", "plain_loops", text=text, dimension=100, tokens=little, times=1)
                self.add("sparse matrix, d = 100", "sparse_matrix", text=text, dimension=100, tokens=some, times=1)
        for dimension in (100, 300):
            shared = {"text": text, "dimension": dimension, "tokens": some}
            self.add(f"floor + prefetch, d = {dimension}", "floor", threads=1, ahead=True, **shared)
            self.add(f"floor in float32, d = {dimension}", "floor", threads=1, single=True, **shared)
            name = f"kernel without corners, d = {dimension}, {many} threads"
            self.add(name, "kernel", threads=many, corners=False, **shared)
            self.add(f"private sums, d = {dimension}, {many} threads", "private_sums", threads=many, **shared)
            shared["tokens"] = min(tokens, 2_000_000)
            self.add(f"gathered windows, d = {dimension}", "gathered", **shared)
        self.add("drift", "drift", text=text, dimension=100, tokens=min(tokens, 5_000_000))
        self.add(
            f"end to end .txt.xz, d = 100, {many} threads", "whole_way",
            text=text + ".xz", dimension=100, threads=many, times=1,
        )  # fmt: skip
        for name in ("10k", "1M"):
            self._induce(name)
        for name in ("10k", "1M"):
            self.add(
                f"floor of {name} targets, d = 100, {many} threads", "floor_of_matches",
                text=text, dimension=100, threads=many, tokens=some, targets=f"targets-{name}.txt",
            )  # fmt: skip
        for name, options in PROFILES.items():
            self.add(f"profile: {name}", "profile", text=text, **options)
        # Growth, and the whole
        for length, name in self.slices.items():
            self.add(f"growth {length:g}", "whole_way", text=name, dimension=100, threads=many)
        if self.arguments.whole:
            for dimension in DIMENSIONS:
                self.add(
                    f"end to end, the whole, d = {dimension}, {many} threads", "whole_way",
                    text="whole.txt", dimension=dimension, threads=many, times=1,
                )  # fmt: skip
        self.results["import"] = {"seconds": self._import_time()}

    def _induce(self, name: str) -> None:
        many = self.arguments.threads
        self.add(
            f"induce {name} targets, d = 100, {many} threads", "whole_way",
            text=self.text, dimension=100, threads=many, targets=f"targets-{name}.txt",
        )  # fmt: skip

    def _import_time(self) -> float:
        """`import alacarte`, less Python's own start."""

        def seconds(code: str) -> float:
            times = []
            for _ in range(7):
                began = time.perf_counter()
                subprocess.run([sys.executable, "-c", code], check=True)
                times.append(time.perf_counter() - began)
            return min(times)

        return seconds("import alacarte") - seconds("pass")

    # ------------------------------------------------------------------------------------------ report

    def rate(self, name: str) -> float:
        return float(self.results[name]["rate"])

    def report(self) -> str:
        many = self.arguments.threads
        lines = [
            f"Machine: {processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
            f"NumPy {np.__version__}; {date.today().isoformat()}; load {min(self.load):.1f} to {max(self.load):.1f}; "
            f"clock: {self.arguments.clock}; best of {self.arguments.repeat}.",
            f"Text: {self.arguments.corpus.name}, a slice of {self.results['encode, 1 threads']['tokens']:,} tokens; "
            f"window {10}; {self.results['targets']['targets']:,} n-grams, the rarest met "
            f"{self.results['targets']['rarest']} times.",
            "",
            "| case | million tokens/s | peak memory, GB | vectors + sums, GB |",
            "|---|---:|---:|---:|",
        ]
        for name, result in self.results.items():
            if "rate" in result:
                peak = f"{result['rss'] / 1e9:.2f}" if result.get("rss") else ""
                held = f"{(result['vectors'] + result['sums']) / 1e9:.2f}" if "sums" in result else ""
                lines.append(f"| {name} | {result['rate'] / 1e6:.2f} | {peak} | {held} |")
        lines += ["", "| goal | wanted | measured | |", "|---|---:|---:|---|"]
        lines += [
            f"| {name} | {wanted} | {shown} | {'reached' if reached else '**missed**'} |"
            for name, wanted, shown, reached in self.goals(many)
        ]
        steps = ("read", "encode", "match", "prepare", "sum")
        lines += ["", f"| CPU time a token, ns | {' | '.join(steps)} | all |", "|---|" + "---:|" * (len(steps) + 1)]
        for name in PROFILES:
            spent = self.results[f"profile: {name}"]["nanoseconds"]
            cells = " | ".join(f"{spent[step]:.0f}" for step in steps)
            lines.append(f"| {name} | {cells} | {sum(spent.values()):.0f} |")
        results_of = self.results
        reference = self.results["encode: readable tokenizer"]
        most = self.results[f"induce 1M targets, d = 100, {many} threads"]
        drift = self.results["drift"]
        apart = max(self.results[f"gathered windows, d = {dimension}"]["apart"] for dimension in (100, 300))
        floors = [results_of[f"floor of {name} targets, d = 100, {many} threads"] for name in ("10k", "1M")]
        slower = floors[0]["rate"] / floors[1]["rate"]
        lines += [
            "",
            f"Adding one row to the sum of each n-gram found, and nothing else, is {slower:.2f} × slower with 1M "
            f"n-grams ({floors[1]['matches']:.2f} found a token) than with 10k ({floors[0]['matches']:.2f}).",
            f"Encoding equals the readable tokenizer on {reference['tokens']:,} tokens: {reference['equal']}.",
            f"Slid against gathered windows, largest relative difference: {apart:.1e}; with {drift['tokens']:,} tokens "
            f"as one document: {drift['apart']:.1e}.",
            f"Before the text is read: 1M targets made from a list in {most['made']:.1f} s, compiled in "
            f"{most['compiled']:.1f} s (within the rate above); fingerprint of the vectors (once, not within it) "
            f"{most['fingerprint']:.2f} s.",
        ]
        return "\n".join(lines)

    def goals(self, many: int) -> list[tuple[str, str, str, bool]]:
        rate, results = self.rate, self.results
        found: list[tuple[str, str, str, bool]] = []

        def at_least(name: str, ratio: float, wanted: float, percent: bool = False) -> None:
            shown = (
                (f"{100 * wanted:.0f} %", f"{100 * ratio:.0f} %") if percent else (f"{wanted:g} ×", f"{ratio:.1f} ×")
            )
            found.append((name, "≥ " + shown[0], shown[1], ratio >= wanted))

        whole = rate(f"end to end .txt, d = 100, {many} threads")
        at_least(f"end to end, d = 100, {many} threads / plain loops", whole / rate("plain loops, d = 100"), 60)
        at_least(f"end to end, d = 100, {many} threads / sparse matrix", whole / rate("sparse matrix, d = 100"), 10)
        for dimension in (100, 300):
            for threads in (1, many):
                ratio = rate(f"kernel, d = {dimension}, {threads} threads") / rate(
                    f"floor, d = {dimension}, {threads} threads"
                )
                at_least(f"kernel / floor, d = {dimension}, {threads} threads", ratio, 0.45, percent=True)
        for threads in (1, many):
            ratio = rate(f"end to end .txt, d = 300, {threads} threads") / rate(f"kernel, d = 300, {threads} threads")
            at_least(f"end to end / kernel, d = 300, {threads} threads", ratio, 0.5, percent=True)
        at_least(
            f"encoding, {many} threads / regex + dict",
            rate(f"encode, {many} threads") / rate("encode: regex + dict"),
            10,
        )
        induce = {name: rate(f"induce {name} targets, d = 100, {many} threads") for name in ("10", "10k", "1M")}
        at_least("induction of 10 words / encoding", induce["10"] / rate(f"encode, {many} threads"), 0.8, percent=True)
        slower = induce["10k"] / induce["1M"]
        found.append(("1M n-grams slower than 10k", "≤ 2 ×", f"{slower:.2f} ×", slower <= 2))
        result = results[f"induce 1M targets, d = 100, {many} threads"]
        spent = result["compiled"] if self.arguments.clock == "wall" else result["compiled_cpu"] / many
        without = induce["10k"] * (1 / induce["1M"] - spent / result["tokens"])
        found.append(("the same without compiling the targets", "≤ 2 ×", f"{without:.2f} ×", without <= 2))
        for name, case in results.items():
            if name.startswith(("end to end", "induce")) and case["threads"] == many:
                limit = 1.3 * (case["vectors"] + case["sums"]) + 1e9
                shown = f"{case['rss'] / 1e9:.2f} GB"
                found.append((f"peak memory: {name}", f"≤ {limit / 1e9:.2f} GB", shown, case["rss"] <= limit))
        lengths = [case for name, case in results.items() if name.startswith("growth")]
        tokens = np.array([case["tokens"] for case in lengths])
        times = tokens / np.array([case["rate"] for case in lengths])
        if len(lengths) > 3:
            line = np.polyval(np.polyfit(tokens, times, 1), tokens)  # a line: the start, and so much a token
            apart = float(np.abs(times / line - 1)[tokens > 4e6].max())
            shown = f"time from {tokens.min() / 1e6:.0f}M to {tokens.max() / 1e6:.0f}M tokens: farthest from a line"
            found.append((shown, "≤ 10 %", f"{100 * apart:.0f} %", apart <= 0.1))
        seconds = results["import"]["seconds"]
        found.append(("import alacarte", "< 0.5 s", f"{seconds:.2f} s", seconds < 0.5))
        return found


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def with_report(page: str, report: str) -> str:
    """The page with everything between its two marks replaced."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise SystemExit(f"the file to update holds no part between {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n`python benchmarks/engine.py {' '.join(sys.argv[1:])}`\n\n{report}\n\n{END}{after}"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        from engine_cases import CASES

        chosen = json.loads(sys.argv[3])
        print(json.dumps(CASES[sys.argv[2]](Path(chosen.pop("work")), **chosen)))
    else:
        main()
