"""Build the site into docs/_build/html, with warnings as errors: `python docs/build.py`.

The notebooks of the gallery are run, and their outputs kept in docs/_build until they change; `--no-notebooks` shows
them without outputs. Nothing is fetched from the network. Needs `pip install -e ".[dev,docs]"`.
"""

import argparse
import os
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-notebooks", action="store_true", help="do not run the notebooks of the gallery")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier builds kept")
    arguments = parser.parse_args()
    here = Path(__file__).parent
    if arguments.no_notebooks:
        os.environ["ALACARTE_NOTEBOOKS"] = "off"
    os.environ.pop("MPLBACKEND", None)  # so that the notebooks show their plots
    os.environ["TQDM_DISABLE"] = "1"  # how long something took on one day is not for the page
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else the kernel of the notebooks warns
    from sphinx.cmd.build import main as sphinx

    options = ["-b", "html", "-W", "--keep-going", "-q", "-j", "auto", *(["-E", "-a"] if arguments.fresh else [])]
    status = sphinx([*options, "-d", str(here / "_build" / "doctrees"), str(here), str(here / "_build" / "html")])
    if status == 0:
        print(f"The site is in {here / '_build' / 'html' / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
