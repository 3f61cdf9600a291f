"""The deployments of docs/deploy are well-formed; nobody here has such a cluster to run them on."""

import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "deploy"


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
