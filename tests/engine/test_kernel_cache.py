"""The cache of kernels; each case runs a tiny kernel in a new process, so none is compiled yet."""

import os
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import llvmlite.binding as llvm
import pytest

import clearbands
from clearbands.engine.kernel_cache import PORTABLE, _runs_portable

pytestmark = pytest.mark.slow  # each process takes a second to load numba

SOURCE = Path(clearbands.__file__).parents[1]
HELPERS = """
from clearbands.engine.compiled import inlined

@inlined
def step(x):
    return x + {step}
"""
KERNELS = """
from clearbands.engine.compiled import kernel
from toy.helpers import step

@kernel
def walk(x):
    return step(x)
"""
CALL = """
import warnings
warnings.simplefilter("error")
from toy.kernels import walk
print(walk(40), sum(walk.stats.cache_hits.values()))
"""


def runs_portable():
    abilities = llvm.get_host_cpu_features().flatten()
    return _runs_portable(llvm.get_process_triple(), llvm.get_host_cpu_name(), abilities)


@pytest.fixture
def folder(tmp_path):
    package = tmp_path / "code" / "toy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "kernels.py").write_text(KERNELS)
    (package / "helpers.py").write_text(HELPERS.format(step=2))
    return tmp_path


def call(folder, **environment):
    """Return the result of the kernel, and how often it came from the cache."""
    unset = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    paths = os.pathsep.join([str(folder / "code"), str(SOURCE)])
    done = subprocess.run(
        [sys.executable, "-B", "-c", CALL],
        env=inherited | {"PYTHONPATH": paths, "HOME": str(folder / "home")} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


def kernels(folder):
    return sorted(folder.rglob("*.kernel"))


def block(path):
    """Put a file at `path`, so that not even root can make a folder there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a file")


def test_a_kernel_is_compiled_once(folder):
    assert call(folder) == (42, 0)
    assert call(folder) == (42, 1)
    assert len(kernels(folder / "code" / "toy" / "__pycache__")) == 1


def test_an_edit_of_another_file_is_seen_and_the_old_kernel_removed(folder):
    call(folder)
    before = kernels(folder)
    (folder / "code" / "toy" / "helpers.py").write_text(HELPERS.format(step=3))
    assert call(folder) == (43, 0)
    assert call(folder) == (43, 1)
    assert len(kernels(folder)) == 1
    assert kernels(folder) != before


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped"])
def test_a_damaged_kernel_is_compiled_again(folder, damage):
    call(folder)
    [path] = kernels(folder)
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes({"cut": whole[:middle], "empty": b"", "flipped": flipped}[damage])
    assert call(folder) == (42, 0)
    assert call(folder) == (42, 1)


def test_numba_cache_dir_comes_first(folder):
    chosen = folder / "chosen"
    assert call(folder, NUMBA_CACHE_DIR=str(chosen)) == (42, 0)
    assert call(folder, NUMBA_CACHE_DIR=str(chosen)) == (42, 1)
    assert kernels(folder) == kernels(chosen)


def test_a_user_who_cannot_write_beside_the_code_has_a_cache_at_home(folder):
    block(folder / "code" / "toy" / "__pycache__")
    assert call(folder) == (42, 0)
    assert call(folder) == (42, 1)
    assert len(kernels(folder / "home")) == 1


def test_kernels_beside_the_code_are_read_by_users_who_cannot_write_there(folder):
    call(folder)
    inside = folder / "code" / "toy" / "__pycache__"
    inside.chmod(0o500)
    assert call(folder, HOME=str(folder / "another")) == (42, 1)
    inside.chmod(0o700)


def test_without_a_home_kernels_lie_in_a_private_temporary_folder(folder):
    block(folder / "code" / "toy" / "__pycache__")
    block(folder / "home")
    temporary = folder / "temporary"
    temporary.mkdir()
    assert call(folder, TMPDIR=str(temporary)) == (42, 0)
    assert call(folder, TMPDIR=str(temporary)) == (42, 1)
    [private] = temporary.iterdir()
    assert private.stat().st_mode & 0o077 == 0
    # A folder that others can write to is not used.
    private.chmod(0o777)
    assert call(folder, TMPDIR=str(temporary)) == (42, 0)


def test_without_any_folder_kernels_are_compiled_every_time(folder):
    block(folder / "code" / "toy" / "__pycache__")
    block(folder / "home")
    temporary = folder / "temporary"
    temporary.mkdir()
    block(temporary / f"clearbands-kernels-{os.getuid()}")
    assert call(folder, TMPDIR=str(temporary)) == (42, 0)
    assert call(folder, TMPDIR=str(temporary)) == (42, 0)
    assert kernels(folder) == []


@pytest.mark.skipif(not runs_portable(), reason="another system or an older processor")
class TestPortable:
    everywhere: ClassVar = {"NUMBA_CPU_NAME": PORTABLE[1], "NUMBA_CPU_FEATURES": PORTABLE[2]}

    def test_a_kernel_that_came_with_the_wheel_is_taken_where_none_was_compiled(self, folder):
        assert call(folder, **self.everywhere) == (42, 0)
        assert [path.parent.name for path in kernels(folder)] == ["kernels"]
        assert call(folder) == (42, 1)
        assert len(kernels(folder)) == 1

    def test_it_is_not_taken_by_a_processor_that_can_do_less(self, folder):
        call(folder, **self.everywhere)
        assert call(folder, NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="+sse2") == (42, 0)
        assert len(kernels(folder)) == 2

    def test_one_compiled_for_the_processor_at_hand_comes_first(self, folder):
        call(folder)
        call(folder, **self.everywhere)
        [portable] = kernels(folder / "code" / "toy" / "kernels")
        portable.write_bytes(b"")
        assert call(folder) == (42, 1)
