"""What a terminal shows: a bar, one sentence for an error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.apps.cli.running import SCRIPT, assert_fails, houses, run


def test_what_nobody_foresaw_says_so(house_files, monkeypatch, tmp_path):
    def break_down(*args, **kwargs):
        raise KeyError("odd")

    monkeypatch.setattr("clearbands.apps.cli.fit.read_table", break_down)
    result = run("fit", house_files / "train.csv", "--target", "y", "--out", tmp_path / "m.cb")
    assert_fails(result, "unexpected KeyError ('odd'); --debug shows where it happened.")


# A shell that runs the tests in the background has them ignore the signal. `preexec_fn` would undo
# it in a fork of a process with threads, which may never end.
THAT_HEARS_CTRL_C = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def _read_until(terminal, words, seconds=120):
    shown, deadline = b"", time.monotonic() + seconds
    while words not in shown:
        assert time.monotonic() < deadline, shown
        shown += os.read(terminal, 4096)
    return shown


def test_on_a_terminal_a_bar_moves_and_ctrl_c_leaves_nothing(tmp_path):
    pty = pytest.importorskip("pty")
    houses(4000).write_csv(tmp_path / "data.csv")
    ours, theirs = pty.openpty()
    command = [SCRIPT, "fit", "data.csv", "--target", "price"]
    process = subprocess.Popen(
        [sys.executable, "-c", THAT_HEARS_CTRL_C, *command, "--out", "model.cb", "--jobs", "1"],
        cwd=tmp_path,
        env=os.environ | {"TERM": "xterm"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = _read_until(ours, b"Choosing a center")
    process.send_signal(signal.SIGINT)
    shown += _read_until(ours, b"half-written.")
    assert process.wait(30) == 130
    os.close(ours)
    assert b" left" in shown
    assert b"Traceback" not in shown
    assert b"Wrote" not in process.stdout.read()
    process.stdout.close()
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
