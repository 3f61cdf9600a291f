from clearbands import BoostedQuantiles, ForestQuantiles
from clearbands.models.pools import FOREST_ROWS
from experiments.defaults import former_default


def test_the_default_grows_with_the_rows_and_stays_of_bounded_size():
    fewest, most = FOREST_ROWS
    kinds = [type(former_default(n).aleatoric.model) for n in (fewest - 1, fewest, most, most + 1)]
    assert kinds == [BoostedQuantiles, ForestQuantiles, ForestQuantiles, BoostedQuantiles]
