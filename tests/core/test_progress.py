import io
import sys

import pytest

from alacarte._io import progress as _progress
from alacarte._io.progress import ProgressState, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_callback_sees_every_update():
    states: list[ProgressState] = []
    with progress(100, "B", "reading", show=False, callback=states.append) as bar:
        bar.update_to(40)
        bar.update_to(100, **{"tokens/s": 2.5e6})
    assert [state.done for state in states] == [40, 100]
    assert states[0].total == 100
    assert states[0].unit == "B"
    assert states[1].postfix == {"tokens/s": 2.5e6}
    assert 0 <= states[0].elapsed <= states[1].elapsed


def test_shown_on_request(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with progress(4_000_000, "B", "reading", show=True) as bar:
        bar.update_to(2_000_000, **{"tokens/s": 2.5e6, "targets": 1234})
    shown = capsys.readouterr().err
    assert "reading" in shown
    assert "2.00M/4.00M" in shown
    assert "tokens/s=2.50M" in shown
    assert "targets=1,234" in shown


def test_nothing_off_a_terminal(capsys):
    with progress(None, "documents", "reading") as bar:
        bar.update_to(7)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("delay", "seen"), [(0.0, True), (60.0, False)])
def test_on_a_terminal_only_after_a_while(monkeypatch, delay, seen):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_progress, "DELAY", delay)
    with progress(None, "documents", "reading") as bar:
        bar.update_to(7)
    assert ("7 documents" in terminal.getvalue()) == seen


def test_an_error_passes_through():
    with pytest.raises(RuntimeError, match="inside"), progress(1, "B", "reading", show=False):
        raise RuntimeError("inside")


WIDE = {"tokens/s": 2.5e6, "targets": "99,999/100,000"}


@pytest.mark.parametrize("description", ["reading", "dimensions 101 to 200 of 300", "reading " + "long" * 20 + ".txt"])
@pytest.mark.parametrize("total", [12_345_678_901, None])
def test_a_bar_fits_80_columns(monkeypatch, capsys, description, total):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: 0.0)
    with progress(total, "B", description, show=True) as bar:
        for done in (1, 6_000_000_000, 12_345_678_901):
            bar.update_to(done, **WIDE)
            bar._bar.refresh()
    lines = capsys.readouterr().err.replace("\r", "\n").split("\n")
    assert max(map(len, lines)) <= 80
    assert all(line.rstrip().endswith("]") for line in lines if line.strip()), "a line was cut"
    assert any("tokens/s=2.50M" in line for line in lines) == (description == "reading")


def test_few_things_are_counted_in_whole_numbers(capsys):
    """Issue 21: spelling showed 1.00/1.00 blocks."""
    with progress(3, "blocks", "spelling", show=True) as bar:
        bar.update_to(1)
        bar._bar.refresh()
    shown = capsys.readouterr().err
    assert "1/3 blocks" in shown
    assert "1.00" not in shown


def test_a_phase_is_named_when_it_takes_long(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    for delay, seen in ((60.0, False), (0.0, True)):
        monkeypatch.setattr(_progress, "DELAY", delay)
        with _progress.phase("sorting 2-grams"):
            if seen:
                while "sorting 2-grams" not in terminal.getvalue():
                    pass
        assert ("sorting 2-grams" in terminal.getvalue()) == seen
    terminal.truncate(0)
    terminal.seek(0)
    with _progress.phase("sorting", show=False):
        pass
    assert terminal.getvalue() == ""
    with pytest.raises(RuntimeError, match="inside"), _progress.phase("sorting"):
        raise RuntimeError("inside")


def test_bars_are_those_of_notebooks_there(monkeypatch):
    """In a kernel the bar is tqdm's for notebooks, shown though nothing there is a terminal."""
    import types

    made = []
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    import tqdm.auto

    class Widget(tqdm.auto.tqdm):
        def __init__(self, *arguments, **options):
            made.append(options)
            super().__init__(*arguments, **{**options, "disable": True})

    monkeypatch.setattr(tqdm.auto, "tqdm", Widget)
    with progress(10, "B", "reading") as bar:
        bar.update_to(5)
    assert made[0]["disable"] is False
    with progress(10, "B", "reading", show=False):
        pass
    assert made[1]["disable"] is True


def test_the_environment_switches_bars_off(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_progress, "DELAY", 0.0)
    monkeypatch.setenv("TQDM_DISABLE", "1")
    with progress(10, "B", "reading") as bar:
        bar.update_to(5)
    assert terminal.getvalue() == ""
    with progress(10, "B", "reading", show=True) as bar:
        bar.update_to(5)
    assert "reading" in terminal.getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_terminal_of_no_size_is_shown_bars_too(monkeypatch):
    """tqdm shows nothing where a terminal says that it has 0 lines, as those of containers do."""
    import os
    import pty

    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(_progress, "DELAY", 0)
        with progress(10, "B", "reading") as bar:
            bar.update_to(5)
        shown = os.read(leader, 4096).decode()
    os.close(leader)
    assert "reading" in shown
