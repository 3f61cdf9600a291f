"""The standing of the default, on rows with known means, and the README's claims about it."""

import re
from pathlib import Path

import pandas as pd
import pytest

from experiments import outside, published, results, standing
from experiments.protocol import FIRST_SEED

README = Path(__file__).parents[2] / "README.md"


def rows_of(losses):
    """Return rows of one set from {(variant, method): a loss for each seed}.

    Widths are twice the losses, and widths at equal coverage are squares of the losses.
    """
    lines = [
        ("airfoil", variant, "standard", seed, method, 0.95, 2 * loss, loss**2, loss, 0, 1, 1, 1)
        for (variant, method), values in losses.items()
        for seed, loss in enumerate(values, start=FIRST_SEED)
    ]
    return pd.DataFrame(lines, columns=results.COLUMNS[:-1]).assign(error="")


ROWS = rows_of(
    {
        ("default", "CLEAR"): [1.0, 1.0, 1.0],
        ("a", "CLEAR"): [2.0, 2.0, 2.0],
        ("default", "crepes"): [4.0, 1.25, 8.0],
        ("default", "MAPIE CQR"): [2.0, 2.5],
    }
)


def test_the_best_peer_is_chosen_anew_on_every_split_that_all_have():
    found = standing.standing(ROWS).loc["airfoil"]
    assert found["against (a), %"] == -50
    assert found["against the best peer, %"] == pytest.approx((-50 - 20) / 2)
    assert (found["seeds"], found["with peers"], found["chosen on it"]) == (3, 2, "yes")


def test_the_best_published_variant_is_that_of_the_smallest_mean_loss_on_the_same_seeds():
    printed = pd.read_parquet(published.PER_SEED).query("dataset == 'airfoil' and seed_index < 3")
    losses = {
        variant: printed.query(
            "variant == @variant and method == 'CLEAR' and metric == 'quantileloss'"
        )["value"].mean()
        for variant in ("a", "b", "c", "deep")
    }
    assert min(losses, key=losses.get) == "deep"
    change = standing.standing(ROWS).loc["airfoil"]["against the best published, %"]
    assert change == pytest.approx(100 * (1 / losses["deep"] - 1))


def test_tables():
    by_set = standing.as_markdown(standing.standing(ROWS)).splitlines()
    best = f"{standing.standing(ROWS).loc['airfoil', 'against the best published, %']:+.1f}"
    assert by_set[2] == f"| airfoil | 3 | 2 | yes | -50.0 | {best} | -35.0 | 0.950 |"
    assert by_set[-1] == f"| **mean of all** | | | | -50.0 | {best} | -35.0 | 0.950 |"
    peers = standing.against_each(ROWS).splitlines()
    assert peers[2:] == [
        "| MAPIE CQR | -55.0 | -55.0 | -79.5 | 0.950 | 1.0 | 1.0 | 2 |",
        "| crepes | -60.8 | -60.8 | -76.1 | 0.950 | 1.0 | 1.0 | 3 |",
    ]


def test_a_fixed_ratio_is_better_where_it_is_beyond_the_noise_of_the_seeds():
    losses = {
        ("a", "CLEAR"): [2.0, 2.0],
        ("a", "lambda=1"): [1.0, 1.0],
        ("a", "gamma1=1"): [2.0, 4.0],
        ("b", "CLEAR"): [2.0, 2.0],
        ("b", "lambda=1"): [1.0, 2.6],  # better on average, by less than the noise
        ("b", "gamma1=1"): [2.0, 2.0],
    }
    lines = standing.fixed_ratios(rows_of(losses)).splitlines()
    assert lines[2] == "| airfoil | -50.00 ± 0.00 | +50.00 ± 50.00 | lambda=1 |"
    assert (
        "lambda = 1 has the smaller loss on 1 of 1 sets, by more than two standard errors on 1"
        in lines[4]
    )
    assert "smaller loss on 1 of 1 sets, by more than two standard errors on 0" in lines[5]


def claims(pattern):
    """Return the numbers that the README claims in such a sentence."""
    text = " ".join(README.read_text().split())
    found = re.search(pattern, text)
    assert found is not None, f"the README no longer says {pattern!r}"
    return [int(number) for number in found.groups()]


@pytest.fixture(scope="module")
def committed():
    return pd.read_parquet(standing.PACKED).query("setting == 'standard' and error == ''")


def test_the_readme_says_how_far_below_variants_and_peers_the_default_is(committed):
    by_set = standing.standing(committed)
    changes = by_set[["against the best published, %", "against the best peer, %"]]
    assert len(changes) == 15
    assert (changes < 0).all(axis=None), "the README says: below both on each set"
    said = claims(r"variant, by (\d+) % on average, .* NGBoost\), by (\d+) %\.")
    assert said == [round(value) for value in -changes.mean()]
    against_a = by_set.groupby("chosen on it")["against (a), %"]
    said = claims(
        r"chosen on (\d+) of these sets: there it is (\d+) % below .*"
        r" on the other (\d+) it is (\d+) %"
    )
    yes, no = -against_a.mean()["yes"], -against_a.mean()["no"]
    assert said == [against_a.size()["yes"], round(yes), against_a.size()["no"], round(no)]


def test_the_readme_says_how_much_narrower_intervals_are_at_equal_coverage(committed):
    line = re.search(r"MAPIE cross-conformal, CatBoost \|.*", standing.against_each(committed))[0]
    at_equal_coverage = float(line.split("|")[3])
    said = claims(r"At equal coverage its intervals are (\d+) % narrower than MAPIE's")
    assert said == [round(-at_equal_coverage)]


def test_the_readme_says_what_tables_outside_say():
    page = "\n".join(outside.table(pd.read_csv(outside.RESULTS)))
    said = claims(
        r"Of (\d+) tables outside the benchmark it is below the best of the nine on (\d+),"
        r" by (\d+) % in the mean and (\d+) % in the median"
    )
    below, tables = re.search(r"Below the best peer on (\d+) of (\d+)", page).groups()
    mean, median = (
        float(re.search(rf"\*\*{label}\*\* \| \| (\S+) ", page)[1]) for label in ("mean", "median")
    )
    assert said == [int(tables), int(below), round(-mean), round(-median)]
    assert page in (results.FOLDER.parent / "RESULTS.md").read_text()
