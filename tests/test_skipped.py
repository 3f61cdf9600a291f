"""The last line of a run, which names what was missing."""

from pathlib import Path

import pytest

from tests.skipped import summary

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("reason", "need"),
    [
        ("Skipped: chromium is not installed", "chromium (apt-get install chromium)"),
        (
            "Skipped: could not import 'lightgbm': No module named 'lightgbm'",
            "lightgbm (pip install --group peers)",
        ),
        ("Skipped: CatBoost is not installed", "catboost (pip install --group peers)"),
        ("Skipped: could not import 'mlflow.pyfunc'", "mlflow (pip install mlflow)"),
        (
            "Skipped: the extra `serve` is not installed",
            'the extra serve (pip install -e ".[serve]")',
        ),
    ],
)
def test_a_reason_names_what_is_missing_and_how_to_get_it(reason, need):
    assert summary([reason, reason]) == f"Skipped: 2 for want of {need}."


def test_other_reasons_are_counted_and_no_skipped_test_needs_no_line():
    assert summary([]) == ""
    reasons = ["Skipped: root may write all", "Skipped: torch is not installed"]
    assert summary(reasons) == (
        "Skipped: 1 for want of torch (pip install torch); 1 for reasons that are named above."
    )


def test_a_run_ends_with_the_line(pytester, monkeypatch):
    tests = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", str(tests.parent))
    pytester.makeconftest((tests / "conftest.py").read_text())
    pytester.makepyfile(
        """
        import pytest

        def test_page():
            pytest.skip("chromium is not installed")
        """
    )
    result = pytester.runpytest_subprocess("-q")
    assert result.outlines[-1] == "Skipped: 1 for want of chromium (apt-get install chromium)."
