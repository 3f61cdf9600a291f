import pytest

from clearbands import PCSEnsemble
from clearbands.rows.failures import Failures
from tests.toys import noisy_line
from tests.uncertainty.test_pcs_ensemble import RIVALS, Odd, OddInBootstraps, raise_its_own


@pytest.mark.parametrize("model", [Odd(raise_its_own), OddInBootstraps(raise_its_own)])
def test_the_warning_points_at_the_line_of_the_user(model):
    X, y = noisy_line(60)
    with pytest.warns(UserWarning, match="'odd' is left out") as said:
        PCSEnsemble({"odd": model, **RIVALS}, n_bootstraps=3, random_state=0).fit(X, y)
    assert said[0].filename == __file__


def test_one_without_rivals_raises_its_own_error_and_an_interrupt_is_no_failure():
    failures = Failures()
    with pytest.raises(KeyError), failures.leaving_out("It", has_rivals=False):
        raise KeyError("size")
    with pytest.raises(KeyboardInterrupt), failures.leaving_out("It"):
        raise KeyboardInterrupt
    assert len(failures) == 0


def test_the_same_words_are_said_once():
    failures = Failures()
    for who in ("A", "B", "C"):
        with pytest.warns(UserWarning, match="left out"), failures.leaving_out(who):
            raise ValueError("too few rows" if who < "C" else "too many")
    error = failures.none_left("All failed")
    assert str(error) == "All failed (A, B: too few rows; C: too many)."
    assert str(error.__cause__) == "too many"
