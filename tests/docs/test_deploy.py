"""The deployments are well-formed. Only the Dockerfile's steps are run, by `make image-steps`."""

import subprocess
from pathlib import Path

import pytest

from tests.image import copy, let_through, read_steps

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "deploy"


def test_the_manifest_names_what_it_uses():
    yaml = pytest.importorskip("yaml")
    volume, cluster, job = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text())
    assert [part["kind"] for part in (volume, cluster, job)] == [
        "PersistentVolumeClaim",
        "DaskCluster",
        "Job",
    ]
    pods = [cluster["spec"]["worker"]["spec"], job["spec"]["template"]["spec"]]
    for pod in pods:
        (claim,) = pod["volumes"]
        assert claim["persistentVolumeClaim"]["claimName"] == volume["metadata"]["name"]
        (mount,) = pod["containers"][0]["volumeMounts"]
        assert mount["name"] == claim["name"]
    arguments = pods[1]["containers"][0]["args"]
    name = cluster["metadata"]["name"]
    assert f"--scheduler=tcp://{name}-scheduler:8786" in arguments


def test_the_job_for_slurm_is_a_script():
    subprocess.run(["bash", "-n", FOLDER / "slurm.sh"], check=True, timeout=20)


def test_the_image_gets_what_the_package_is_built_from(tmp_path):
    steps = read_steps((ROOT / "Dockerfile").read_text())
    copied = [source for step in steps if step.name == "COPY" for source in step.words[:-1]]
    assert sorted(copied) == sorted(let_through(ROOT))
    build = (ROOT / "pyproject.toml").read_text()
    for named in ("README.md", "LICENSE", "src"):
        assert named in build
        assert named in copied
    with pytest.raises(FileNotFoundError, match="docs is copied, but"):
        copy(["docs"], ROOT, tmp_path)


def test_the_image_serves_as_it_says_and_not_as_root():
    steps = {step.name: step for step in read_steps((ROOT / "Dockerfile").read_text())}
    assert steps["USER"].words == ["service"]
    command = [*steps["ENTRYPOINT"].words, *steps["CMD"].words]
    assert command[:2] == ["clearbands", "serve"]
    port = command[command.index("--port") + 1]
    assert steps["EXPOSE"].rest == port
    assert f":{port}/health" in steps["HEALTHCHECK"].rest
