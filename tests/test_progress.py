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


def test_shown_on_request(capsys):
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
    assert ("7.00 documents" in terminal.getvalue()) == seen


def test_an_error_passes_through():
    with pytest.raises(RuntimeError, match="inside"), progress(1, "B", "reading", show=False):
        raise RuntimeError("inside")
