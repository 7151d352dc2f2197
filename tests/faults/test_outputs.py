"""What commands write: never over an input, never over what is not ours, whole or not at all, and nothing else goes."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from command_lines import all_commands
from typer.testing import CliRunner

from alacarte import ALaCarte, Concordance, ContextSums, Transform, WordVectors, collect
from alacarte._io.files import atomic_write
from alacarte.cli import app
from alacarte.cli.outputs import PATH_METAVARS
from alacarte.errors import AlacarteError, BadVectors, DiskFull
from alacarte.model.saving import FILE_NAMES
from alacarte.passes.checkpoint import Checkpoint, delete_checkpoint
from alacarte.vectors.neighbours import Index

WORDS = [f"w{number}" for number in range(30)]
VECTORS = WordVectors(WORDS, np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    VECTORS.save(folder / "v.vec")
    VECTORS.save(folder / "v.safetensors")
    rng = np.random.default_rng(1)
    (folder / "c.txt").write_text("\n".join(" ".join(rng.choice([*WORDS, "new"], 12)) for _ in range(300)))
    (folder / "t.txt").write_text("new\n")
    (folder / "list.txt").write_text("c.txt\n")
    (folder / "counts.tsv").write_text("w1\t5\nnew\t7\n")
    vectors, text = WordVectors.load(folder / "v.vec"), folder / "c.txt"
    sums = collect(vectors, text)
    sums.save(folder / "c.sums")
    ALaCarte.from_sums(vectors, sums, weighting="none").save(folder / "m")
    Concordance.build(vectors, text, folder / "k")
    vectors.save(folder / "static", "model2vec")
    return folder


@pytest.fixture
def folder(tmp_path, prepared, monkeypatch):
    """Vectors, a text, a list of targets, sums and a model, in the current folder."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def alc(line):
    return CliRunner().invoke(app, line.split())


def everything(folder):
    return {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


# ------------------------------------------------------------------------------- an output is none of the inputs

INPUTS = [
    "induce --model m --corpus c.txt --word new --out c.txt",
    "induce --model m --corpus c.txt --words t.txt --out t.txt",
    "induce --model m --corpus . --word new --out v.vec",
    "induce --model m --corpus *.txt --word new --out c.txt",
    "induce --model m --corpus c.txt --word new --out m/vectors.safetensors",
    "induce --model m --corpus c.txt --word new --out o.vec --missing c.txt",
    "fit --vectors v.vec --corpus c.txt --save-sums c.txt --out n",
    "fit --vectors v.vec --corpus c.txt --checkpoint v.vec --out n",
    "fit --vectors v.vec --corpus c.txt --context-weights @t.txt --save-sums t.txt --out n",
    "fit --vectors v.vec --corpus c.txt --exclude t.txt --save-sums t.txt --out n",
    "fit --vectors v.vec --corpus m/report.txt --out m",
    "convert v.vec v.vec --limit 10",
    "convert v.safetensors v.safetensors --limit 10",
    "merge c.sums --out c.sums",
    "convert v.vec v.vec --to word2vec-text",
    "senses induce --word new --model m --corpus c.txt --out c.txt",
    "concordance lines k --word new --csv k/concordance.sqlite",
    "induce --model m --corpus k --word new --out k/vocabulary.safetensors",
    "concordance build k --vectors v.vec --out k",
    "induce --model m --corpus @list.txt --word new --out o.vec --missing c.txt",
    "induce --model m --corpus @list.txt --word new --out o.vec --missing list.txt",
    "fit --vectors v.vec --corpus c.txt --context-weights sif@counts.tsv --save-sums counts.tsv --out n",
    "convert static static --to model2vec",
    "convert static/model.safetensors static --to model2vec",
]


@pytest.mark.parametrize("line", INPUTS)
@pytest.mark.parametrize("overwrite", ["", " --overwrite"])
def test_no_output_is_an_input(folder, line, overwrite):
    before = everything(folder)
    result = alc(line + overwrite)
    assert result.exit_code == 1, result.output
    assert everything(folder) == before
    if overwrite:
        assert "reads, and" in result.stderr


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_nor_another_name_of_one(folder, link):
    link("v.vec", "other.vec")
    before = everything(folder)
    result = alc("convert v.vec other.vec --limit 10 --overwrite")
    assert (result.exit_code, everything(folder)) == (1, before)
    assert "other.vec: is what IN reads, and OUT would write over it" in result.stderr


@pytest.mark.parametrize("place", ["IN", "OUT"])
def test_nor_a_file_by_its_url(folder, place):
    pytest.importorskip("fsspec")
    before = everything(folder)
    names = {"IN": "v.vec", "OUT": "v.vec", place: (folder / "v.vec").as_uri()}
    result = alc(f"convert {names['IN']} {names['OUT']} --limit 10 --overwrite")
    assert (result.exit_code, everything(folder)) == (1, before)
    assert "is what IN reads, and OUT would write over it" in result.stderr


def test_nor_another_output(folder):
    for line in (
        "induce --model m --corpus c.txt --word new --out o.safetensors --save-sums o.safetensors",
        "induce --model m --corpus c.txt --word new --out o.npy --missing o.vocab.txt",
        "fit --vectors v.vec --corpus c.txt --checkpoint x --save-sums ./x --out n",
    ):
        result = alc(line)
        assert result.exit_code == 1
        assert "would be written there; name two files" in result.stderr


def test_python_saves_do_not_write_over_what_was_read(folder):
    few = WordVectors.load("v.vec", limit=3)
    with pytest.raises(BadVectors, match=r"were read from this file.*overwrite=True"):
        few.save("v.vec")
    assert len(WordVectors.load("v.vec")) == 30
    few.save("v.vec", overwrite=True)
    assert len(WordVectors.load("v.vec")) == 3


def test_every_command_that_writes_has_the_option():
    written = {"out", "save_sums", "missing", "checkpoint", "csv", "plot"}
    for name, command in all_commands():
        if name.startswith("eval"):  # of another distribution
            continue
        names = {parameter.name for parameter in command.params}
        assert ("overwrite" in names) == bool(names & written), name
        places = {p.name for p in command.params if set((p.metavar or "").split("|")) & {*PATH_METAVARS, "OUT"}}
        for parameter in command.params:  # inputs are known by their metavar
            kind = str(parameter.type_descriptor.annotation).lower()
            assert "path" not in kind or parameter.name in places, (name, parameter.name)


# ------------------------------------------------------------------- what is there is replaced only if it is ours


def test_files_that_cannot_be_proved_ours_need_the_option(folder):
    for name in ("o.vec", "o.txt", "o.bin"):
        assert alc(f"convert v.vec {name}").exit_code == 0
        whole = Path(name).read_bytes()
        refused = alc(f"convert v.vec {name} --limit 3")
        assert (refused.exit_code, Path(name).read_bytes()) == (1, whole)
        assert f"{name}: is there already, and OUT would replace it" in refused.stderr
        assert "--overwrite" in refused.stderr
        assert alc(f"convert v.vec {name} --limit 3 --overwrite").exit_code == 0
        assert len(WordVectors.load(name)) == 3


@pytest.mark.parametrize("name", ["o.safetensors", "o.npy"])
def test_files_that_we_wrote_do_not(folder, name):
    assert alc(f"convert v.vec {name}").exit_code == 0
    assert alc(f"convert v.vec {name} --limit 3").exit_code == 0
    assert len(WordVectors.load(name)) == 3
    shutil.copy("c.txt", name)  # now it is somebody else's
    assert alc(f"convert v.vec {name} --limit 3").exit_code == 1
    assert Path(name).read_bytes() == Path("c.txt").read_bytes()


def test_an_artifact_of_another_kind_stays(folder):
    before = everything(folder)
    assert alc("merge c.sums --out v.safetensors").exit_code == 1
    assert alc("convert v.vec c.sums --to safetensors").exit_code == 1
    with pytest.raises(AlacarteError, match="exists and is no index"):
        Index.build(VECTORS).save("c.sums")
    assert everything(folder) == before


def test_a_word_list_of_somebody_else_stays(folder):
    Path("o.vocab.txt").write_text("my notes\n")
    assert alc("convert v.vec o.npy").exit_code == 1
    assert Path("o.vocab.txt").read_text() == "my notes\n"


def test_an_empty_file_has_nothing_to_lose(folder):
    Path("o.vec").touch()
    assert alc("convert v.vec o.vec").exit_code == 0


# --------------------------------------------------------------------------------------------------- a model's folder


def test_a_model_leaves_other_files_in_its_folder_alone(folder):
    Path("m/notes.txt").write_text("mine")
    Path("m/data").mkdir()
    Path("m/data/x").write_text("mine too")
    assert alc("fit --vectors v.vec --corpus c.txt --weighting none --out m").exit_code == 0
    assert alc("fit --vectors v.vec --corpus c.txt --weighting none --no-include-vectors --out m").exit_code == 0
    names = {path.name for path in Path("m").iterdir()}
    assert names == {"model.json", "transform.safetensors", "register.safetensors", "report.txt", "notes.txt", "data"}
    assert Path("m/data/x").read_text() == "mine too"


def test_a_file_in_the_way_that_no_model_wrote_stays(folder):
    shutil.copy("v.safetensors", "m/form.safetensors")
    Path("m/report.txt").write_text("my own report")
    before = everything(folder)
    result = alc("fit --vectors v.vec --corpus c.txt --weighting none --out m")
    assert (result.exit_code, everything(folder)) == (1, before)
    assert "move it away" in result.stderr
    assert alc("fit --vectors v.vec --corpus c.txt --weighting none --out m --overwrite").exit_code == 0
    assert Path("m/report.txt").read_text() != "my own report"
    assert Path("m/form.safetensors").exists()  # not of the old model, not of the new one


def test_a_folder_with_other_things_is_refused(folder):
    Path("n").mkdir()
    Path("n/x").write_text("mine")
    assert alc("fit --vectors v.vec --corpus c.txt --weighting none --out n").exit_code == 1
    assert alc("fit --vectors v.vec --corpus c.txt --weighting none --out n --overwrite").exit_code == 0
    assert Path("n/x").read_text() == "mine"


def test_a_folder_of_vectors_is_replaced_as_a_whole(folder, monkeypatch):
    written = ["convert v.vec out --to model2vec"]
    assert alc(" ".join(written)).exit_code == 0
    (folder / "out" / "mine").write_text("mine")
    before = everything("out")
    refused = alc(" ".join(written))
    assert refused.exit_code == 1
    assert "or pass --overwrite" in refused.stderr
    real = os.fsync

    def fail(number):
        if "json" in Path(f"/proc/self/fd/{number}").readlink().name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(number)

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fail)
        assert alc(" ".join([*written, "--overwrite --limit 3"])).exit_code == 1
    assert everything("out") == before
    assert alc(" ".join([*written, "--overwrite --limit 3"])).exit_code == 0
    assert (folder / "out" / "mine").read_text() == "mine"
    assert len(WordVectors.load(folder / "out")) == 3
    assert not list(folder.glob(".out*"))


def test_a_concordance_is_built_where_it_can_be(folder):
    for line, said in {
        "concordance build c.txt --vectors v.vec --out t.txt": "t.txt: is a file",
        "concordance build c.txt --vectors m --out .": "is what",
    }.items():
        refused = alc(line)
        assert refused.exit_code == 1
        assert said in refused.stderr
    (folder / "sub").mkdir()
    os.chdir("sub")
    refused = alc("concordance build ../c.txt --vectors ../v.vec --out .")
    assert refused.exit_code == 0, refused.stderr


def test_a_model_that_is_saved_where_its_vectors_are_keeps_them(tmp_path):
    ALaCarte(VECTORS, Transform(np.eye(4, dtype=np.float32))).save(tmp_path / "m")
    ALaCarte.load(tmp_path / "m").save(tmp_path / "m")
    assert ALaCarte.load(tmp_path / "m").vectors == VECTORS


def test_files_of_two_models_are_never_taken_for_one(tmp_path):
    for scale in (1, 2):
        ALaCarte(VECTORS, Transform(scale * np.eye(4, dtype=np.float32))).save(tmp_path / str(scale))
    shutil.copy(tmp_path / "1" / "transform.safetensors", tmp_path / "2")
    with pytest.raises(AlacarteError, match="is not the file that was saved with this model"):
        ALaCarte.load(tmp_path / "2")
    (tmp_path / "2" / "transform.safetensors").unlink()
    with pytest.raises(AlacarteError, match="is missing"):
        ALaCarte.load(tmp_path / "2")


def test_a_failure_leaves_no_new_folder(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DiskFull, match=r"cannot be written .No space left"):
        ALaCarte(VECTORS, Transform(np.eye(4, dtype=np.float32))).save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# ----------------------------------------------------------------------------------------------------- checkpoints


def test_a_checkpoint_takes_nothing_else_with_it(folder):
    """`part1` and `part1.sums`, `old` and `old.sums`: names that were once derived from each other."""
    shutil.copy("c.sums", "old.sums")
    Path("old.lock").write_text("mine")
    fit = "fit --vectors v.vec --corpus c.txt --weighting none --checkpoint-every 0"
    assert alc(f"{fit} --checkpoint part1 --save-sums part1.sums --out n").exit_code == 0
    assert alc(f"{fit} --checkpoint old --out n").exit_code == 0
    assert ContextSums.load("part1.sums").documents == ContextSums.load("old.sums").documents == 300
    assert Path("old.lock").read_text() == "mine"
    assert not Path("part1").exists()
    assert not Path("old").exists()


def test_a_checkpoint_that_names_a_file_of_somebody_else(tmp_path):
    (tmp_path / "old.sums").write_text("mine")
    checkpoint = Checkpoint(tmp_path / "c", {})
    checkpoint.notes["rows"] = "old.sums"
    checkpoint.write()
    delete_checkpoint(tmp_path / "c")
    assert [path.name for path in tmp_path.iterdir()] == ["old.sums"]


# ------------------------------------------------------------------------------- devices, pipes, links, permissions

posix = pytest.mark.skipif(os.name == "nt", reason="needs devices, pipes and modes as POSIX has them")


@posix
def test_a_pipe_is_written_to(folder):
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    assert alc("convert v.vec pipe --to word2vec-text").exit_code == 0
    reader.join()
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
    assert read == [Path("v.vec").read_bytes()]


@posix
def test_devices_are_written_to(folder):
    before = Path("/dev/null").stat()
    assert alc("convert v.vec /dev/null --to word2vec-text").exit_code == 0
    assert alc("convert v.vec /dev/null --to npy").exit_code == 1  # there is no room for a list of words
    after = Path("/dev/null").stat()
    assert (after.st_ino, stat.S_ISCHR(after.st_mode)) == (before.st_ino, True)


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
@pytest.mark.parametrize("to", ["word2vec-text", "safetensors"])
def test_standard_output_gets_the_file_and_nothing_else(folder, name, to):
    arguments = [sys.executable, "-m", "alacarte", "convert", "v.vec", name, "--to", to]
    for kept in ("", "before\n"):
        Path("out").write_text(kept)
        with Path("out").open("ab") as out:
            assert subprocess.run(arguments, stdout=out, check=False).returncode == 0
        VECTORS.save("expected", to)
        assert Path("out").read_bytes() == kept.encode() + Path("expected").read_bytes()


def test_a_dash_is_standard_output(folder):
    VECTORS.save("expected.tsv")
    command = [sys.executable, "-m", "alacarte"]
    converted = subprocess.run([*command, "convert", "v.vec", "-"], capture_output=True, check=False)
    assert (converted.returncode, converted.stderr) == (0, b"")
    assert converted.stdout == Path("expected.tsv").read_bytes()
    np.save("t.npy", np.eye(VECTORS.dimension))
    Path("text.txt").write_text("w3 w1 w2 w4\n")
    induce = ["induce", "--vectors", "v.vec", "--model", "t.npy", "--corpus", "text.txt", "--word", "w1 w2"]
    induced = subprocess.run([*command, *induce, "--out", "-"], capture_output=True, check=False)
    assert induced.returncode == 0, induced.stderr
    Path("induced.tsv").write_bytes(induced.stdout)
    assert WordVectors.load("induced.tsv").words == ("w1 w2",)
    assert WordVectors.load("induced.tsv").counts.tolist() == [1]
    refused = alc("convert v.vec - --json")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--json" in refused.stderr
    contexts = [*command, "contexts", "text.txt", "--word", "w1", "--csv", "-"]
    listed = subprocess.run(contexts, capture_output=True, check=False)
    assert (listed.returncode, listed.stderr) == (0, b"")
    assert listed.stdout.decode().splitlines() == ["document,position,pattern,match,left,right", "0,1,w1,w1,w3,w2 w4"]
    assert not Path("-").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_without_room_is_named(folder):
    result = alc("convert v.vec /dev/full --to word2vec-text")
    assert (result.exit_code, result.stderr) == (1, "alc: error: /dev/full: No space left on device\n")
    with Path("/dev/full").open("wb") as full:
        arguments = [sys.executable, "-m", "alacarte", "nearest", "v.vec", "-w", "w1"]
        ended = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "alc: error: standard output: No space left on device\n")


@posix
def test_a_link_is_followed_and_modes_are_kept(folder):
    Path("far").mkdir()
    Path("far/real.vec").write_text("old\n")
    Path("far/real.vec").chmod(0o600)
    Path("o.vec").symlink_to("far/real.vec")
    assert alc("convert v.vec o.vec --overwrite").exit_code == 0
    assert Path("o.vec").is_symlink()
    assert Path("far/real.vec").read_bytes() == Path("v.vec").read_bytes()
    assert stat.S_IMODE(Path("far/real.vec").stat().st_mode) == 0o600
    Path("m/transform.safetensors").chmod(0o640)
    Path("m/model.json").chmod(0o640)
    assert alc("fit --vectors v.vec --corpus c.txt --weighting none --out m").exit_code == 0
    assert {stat.S_IMODE(Path("m", name).stat().st_mode) for name in ("model.json", FILE_NAMES[0])} == {0o640}


@posix
def test_a_new_file_has_the_mode_that_others_would_have(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "a") as file:
            file.write(b"a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(tmp_path):
    (tmp_path / "a").write_text("old")
    os.chown(tmp_path / "a", 12345, 23456)
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    state = (tmp_path / "a").stat()
    assert (state.st_uid, state.st_gid) == (12345, 23456)


def test_long_names(tmp_path):
    name = "ä" * 120
    with atomic_write(tmp_path / name) as file:
        file.write(b"whole")
    assert (tmp_path / name).read_bytes() == b"whole"


# ------------------------------------------------------------------------------------------- a matrix and its words


def test_a_matrix_is_never_read_with_the_words_of_another(tmp_path):
    other = WordVectors([f"x{number}" for number in range(30)], VECTORS.matrix)
    VECTORS.save(tmp_path / "a.npy")
    other.save(tmp_path / "b.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), VECTORS.matrix)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy", mmap_mode="r"), VECTORS.matrix)
    with (tmp_path / "a.npy").open("rb") as file:
        np.testing.assert_array_equal(np.load(file), VECTORS.matrix)
    shutil.copy(tmp_path / "b.vocab.txt", tmp_path / "a.vocab.txt")
    with pytest.raises(BadVectors, match="is not the list of words that was written with"):
        WordVectors.load(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", VECTORS.matrix)  # somebody else's: nothing is known about its words
    assert WordVectors.load(tmp_path / "a.npy") == other
