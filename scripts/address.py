"""The addresses of the repository and of its site, as `pyproject.toml` names them.

    python scripts/address.py                                    # prints both
    python scripts/address.py https://github.com/OWNER/NAME      # writes them wherever they are spelled out

Everything else (the site, the list of its versions, the README on PyPI) takes them from `pyproject.toml`.
"""

import re
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
SPELLED_OUT = ("pyproject.toml", "CITATION.cff", "packaging/conda/recipe.yaml", ".github/ISSUE_TEMPLATE/config.yml")


def addresses(repository: Path = REPOSITORY) -> tuple[str, str]:
    """Return the address of the repository, and that of the site, which ends with a slash."""
    urls = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    return urls["Source"], urls["Documentation"]


def set_address(new: str, repository: Path = REPOSITORY) -> None:
    """Write the address of a repository on GitHub, and of its site there, in the place of the present ones."""
    match = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+?)/?", new)
    if match is None:
        raise SystemExit(f"{new!r} is not like https://github.com/OWNER/NAME")
    source, site = addresses(repository)
    owner, name = match.groups()
    old_path, new_path = source.removeprefix("https://github.com/"), f"{owner}/{name}"
    for file in SPELLED_OUT:
        text = (repository / file).read_text(encoding="utf-8")
        text = text.replace(site, f"https://{owner.lower()}.github.io/{name}/")
        for host in ("https://github.com/", "https://raw.githubusercontent.com/"):
            text = text.replace(f"{host}{old_path}", f"{host}{new_path}")
        (repository / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        set_address(sys.argv[1])
    print(*addresses(), sep="\n")
