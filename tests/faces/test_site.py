"""What the site is made of; `.ci/run` builds it, with warnings as errors."""

import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import alacarte
import alacarte.documents
import alacarte.regression
import alacarte.senses
from alacarte import errors

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

api_pages = pytest.importorskip("api_pages")


@pytest.fixture(scope="module")
def pages():
    return api_pages.pages((DOCS / "reference.md").read_text(encoding="utf-8"))


def test_the_api_reference_has_every_public_name(pages):
    documented = {f"{module}.{name}" for _, names in pages.values() for module, name in names}
    for package in (alacarte, alacarte.regression, alacarte.senses, alacarte.documents):
        assert {f"{package.__name__}.{name}" for name in package.__all__ if name != "__version__"} <= documented
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, (errors.AlacarteError, Warning)):
            assert f"alacarte.errors.{name}" in documented
    assert "alacarte.contexts.reading.ReadingOptions" in documented  # a further name of docs/reference.md
    assert "alacarte.uncertainty.uncertainty.Similarity" in documented  # what one of them gives


def test_each_thing_has_one_entry(pages):
    documented: dict[int, str] = {}
    texts = [api_pages.page_text(title, names, documented) for title, names in pages.values()]
    entries = [line.split()[-1] for text in texts for line in text.splitlines() if line.startswith(".. auto")]
    assert len(entries) == len(set(entries)) == len(documented)
    assert "- ``alacarte.senses.induce_senses``: see :py:obj:`alacarte.induce_senses`" in "\n".join(texts)


def test_examples_of_docstrings_become_code_blocks():
    pytest.importorskip("myst_parser")
    from markdown_docstrings import fenced

    lines = ["Adds.", "", ">>> 1 + 1", "2", "", "And more.", ">>> 2", "2"]
    assert fenced(lines) == [
        *["Adds.", "", "", "```pycon", ">>> 1 + 1", "2", "```", "", "And more."],
        *["", "```pycon", ">>> 2", "2", "```"],
    ]
    assert fenced(["```", ">>> 1", "```"]) == ["```", ">>> 1", "```"]  # is one already


def test_links_lead_where_the_site_has_the_page():
    from github_pages import with_links_of_site

    text = "[a](method.md#x) [b](../SECURITY.md) [c](../src/alacarte/errors.py) [d](https://x.org/y) [e](#here)"
    assert with_links_of_site(text, DOCS / "tutorial.md", DOCS, "https://host/blob/main/") == (
        "[a](method.md#x) [b](project/security.md) [c](https://host/blob/main/src/alacarte/errors.py) "
        "[d](https://x.org/y) [e](#here)"
    )
    text = "[a](docs/method.md) [b](SECURITY.md) [c](LICENSE)"
    assert with_links_of_site(text, REPOSITORY / "CHANGELOG.md", DOCS, "https://host/blob/main/") == (
        "[a](../method.md) [b](security.md) [c](https://host/blob/main/LICENSE)"
    )


def test_each_page_stands_in_one_place_of_the_site():
    contents = runpy.run_path(str(DOCS / "conf.py"))["contents"]
    placed = [
        str(Path(parent).parent / page) if parent.startswith("gallery/") else page
        for parent, pages in contents.items()
        for page in pages
    ]
    assert len(placed) == len(set(placed))
    written = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    written = {page for page in written if page.split("/")[0] not in ("project", "api", "_build")}
    assert written <= {*placed, "index"}


# ------------------------------------------------------------------------------------------------------- a release

sys.path.insert(0, str(REPOSITORY / "scripts"))
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def check_schema(schema: str, paths: list[Path]) -> None:
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, paths)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_workflows_are_as_github_wants_them(tmp_path):
    assert len(WORKFLOWS) >= 5
    check_schema("vendor.github-workflows", WORKFLOWS)
    bad = tmp_path / "bad.yml"
    bad.write_text("on: push\njobs: {a: {runs-on: ubuntu-latest, stepps: []}}\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="stepps"):
        check_schema("vendor.github-workflows", [bad])


def test_the_workflows_call_what_is_there():
    for path in WORKFLOWS:
        for script in re.findall(
            r"(?:scripts|docs|\.ci|\.github/workflows)/[\w./-]+", path.read_text(encoding="utf-8")
        ):
            assert script.startswith("docs/_build") or (REPOSITORY / script).exists(), f"{path.name}: {script}"


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    recipe = (REPOSITORY / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n", 1)[1].split("\n\n", 1)[0]
    asked = {line.strip(" -").replace(" ", "") for line in run.splitlines()} - {"python>=${{python_min}}"}
    assert asked == set(project["project"]["dependencies"])


def test_the_files_of_a_release_name_one_version():
    import check_release

    assert set(check_release.numbers().values()) == {alacarte.__version__}
    check_release.check_numbers(f"v{alacarte.__version__}")
    with pytest.raises(SystemExit, match=r"_version\.py says"):
        check_release.check_numbers("v99.0")


def test_the_address_is_in_one_place(tmp_path):
    """`scripts/address.py` changes it everywhere: nothing tracked spells out the present one but what it writes."""
    from address import SPELLED_OUT, addresses, set_address

    source, site = addresses()
    names = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        file = REPOSITORY / name
        if (
            name not in SPELLED_OUT
            and file.is_file()
            and file.suffix in (".md", ".py", ".toml", ".yml", ".yaml", ".cff")
        ):
            text = file.read_text(encoding="utf-8")
            assert source not in text, name
            assert site not in text, name
    for name in SPELLED_OUT:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((REPOSITORY / name).read_bytes())
    set_address("https://github.com/Some-One/else", tmp_path)
    assert addresses(tmp_path) == ("https://github.com/Some-One/else", "https://some-one.github.io/else/")
    for name in SPELLED_OUT:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "Some-One/else" in text
        assert source.removeprefix("https://") not in text
    with pytest.raises(SystemExit, match="is not like"):
        set_address("example.org", tmp_path)


def test_sites_of_several_versions_lie_side_by_side(tmp_path):
    from address import addresses
    from place_site import place

    site, pages = tmp_path / "site", tmp_path / "pages"
    site.mkdir(), pages.mkdir()
    (site / "objects.inv").touch()
    for version in ("dev", "0.9.0", "0.10.0"):
        place(site, pages, version)
    assert [entry["version"] for entry in json.loads((pages / "versions.json").read_text())] == [
        "0.10.0",
        "0.9.0",
        "dev",
    ]
    assert "url=0.10.0/" in (pages / "index.html").read_text()
    links = re.findall(r'href="([^"]+)"', (pages / "404.html").read_text())
    assert len(links) == 4
    for link in links:  # whole addresses, since it is shown in the place of a page in any folder
        page = link.removeprefix(f"{addresses()[1]}0.10.0/").removesuffix(".html")
        assert page == "search" or (DOCS / f"{page}.md").exists()
    with pytest.raises(SystemExit, match="no version"):
        place(site, pages, "../elsewhere")
