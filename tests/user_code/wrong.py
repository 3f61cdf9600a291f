"""Code that a type checker must refuse: every line that ends with `# wrong`, and no other."""

import numpy as np

from clearbands import ClearClassifier, ClearRegressor, fast, thorough, variant_b

X = np.zeros((9, 2))

ClearRegressor(calibration="crss")  # wrong
ClearRegressor(confidence_level="0.9")  # wrong
ClearRegressor(split="times")  # wrong
ClearRegressor(residuals="in_sample")  # wrong
ClearRegressor(confidance_level=0.9)  # wrong
ClearClassifier(calibration="split")  # wrong
fast(calibration="crss")  # wrong
fast(confidence_level="0.9")  # wrong
thorough(random_sate=0)  # wrong
variant_b(stock="yes")  # wrong

model = ClearRegressor()
model.predict_interval(X, side="left")  # wrong
model.predict_interval(X).mean()  # wrong
model.predict_interval(X, confidence_level="0.9")  # wrong
