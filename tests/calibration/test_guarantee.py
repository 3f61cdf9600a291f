import pytest

from clearbands.calibration.guarantee import Guarantee


@pytest.mark.parametrize(
    ("calibration", "words"),
    [("joint", "asymptotic coverage"), ("conformal", "finite-sample marginal coverage")],
)
def test_members_are_their_words(calibration, words):
    assert Guarantee.of(calibration) == words
    assert f"{Guarantee.of(calibration)}" == words
    assert isinstance(Guarantee.of(calibration), str)


def test_only_words_that_say_so_hold_in_finite_samples():
    promised = {member for member in Guarantee if member.is_finite_sample}
    assert promised == {member for member in Guarantee if member.startswith("finite-sample")}
