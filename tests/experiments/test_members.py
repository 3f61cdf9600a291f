import pandas as pd

from experiments import members


def test_losses_are_compared_split_by_split():
    """The last split has no row with ten repeats, so it is left out."""
    keys = [("a", 1, 3), ("a", 1, 10), ("b", 1, 3), ("b", 1, 10), ("b", 2, 3)]
    found = pd.DataFrame(keys, columns=["dataset", "seed", "repeats"])
    found = found.assign(
        quantile_loss=[1.0, 0.9, 2.0, 2.1, 9.0], picp=0.95, cpu_seconds=[1.0, 2.0, 1.0, 4.0, 9.0]
    )
    *_, usual, most = members.table(found)
    assert usual == "| 3 | +0.00 | 0.00 | 0 | 0.950 | 1.00 |"
    assert most == "| 10 | -2.50 | 7.50 | 1 | 0.950 | 3.00 |"
