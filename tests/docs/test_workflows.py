"""The workflows name only what exists: targets of make, versions of Python, systems."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
if not FOLDER.exists():
    pytest.skip("the workflows are not part of the sdist", allow_module_level=True)
WORKFLOWS = [pytest.param(path, id=path.stem) for path in sorted(FOLDER.glob("*.yml"))]
SYSTEMS = {"Linux": "ubuntu", "MacOS": "macos", "Windows": "windows"}


def jobs_of(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


def steps_of(path):
    return [step for job in jobs_of(path).values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS)
def test_jobs_wait_for_jobs_that_are_there_and_end(path):
    jobs = jobs_of(path)
    for name, job in jobs.items():
        assert job.get("needs", name) in jobs
        assert "upload" in name or job["timeout-minutes"] <= 60


@pytest.mark.parametrize("path", WORKFLOWS)
def test_what_they_make_is_a_target_and_what_they_run_is_a_file(path):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    for step in steps_of(path):
        words = step.get("run", "").split()
        if words[:1] == ["make"]:
            assert words[1] in targets
        elif words[:1] == ["bash"]:
            assert (ROOT / words[1]).exists()


@pytest.mark.parametrize("path", WORKFLOWS)
def test_what_they_keep_does_not_lie_in_a_hidden_folder(path):
    """actions/upload-artifact leaves out files whose path has a part that begins with a dot."""
    for step in steps_of(path):
        if "upload-artifact" in step.get("uses", ""):
            assert not re.search(r"(^|/)\.", step["with"]["path"], re.M)


def test_each_version_and_system_that_the_package_names_is_tried():
    matrix = jobs_of(FOLDER / "test.yml")["fast"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = "\n".join(project["classifiers"])
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)$", names, re.M)
    systems = [SYSTEMS[name] for name in re.findall(r"^Operating System :: .*?(\w+)$", names, re.M)]
    assert sorted(matrix["os"]) == sorted(f"{system}-latest" for system in systems)
