import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clearbands.models.seeds import seed_missing


def test_only_open_seeds_are_set():
    model = make_pipeline(StandardScaler(), RandomForestRegressor())
    seeded = seed_missing(model, np.random.RandomState(0))
    assert isinstance(seeded.get_params()["randomforestregressor__random_state"], int)
    given_seed = seed_missing(RandomForestRegressor(random_state=5), np.random.RandomState(0))
    assert given_seed.random_state == 5
