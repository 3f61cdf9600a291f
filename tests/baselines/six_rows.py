"""Six rows and three members, small enough to count by hand."""

import numpy as np

# Every row has the same lower estimates -3, -2, -1, upper estimates
# 1, 2, 5 and medians -0.5, 0, 0.5: the bounds are -2 and 2, their interquartile ranges 1 and 2.
LOWER, MIDDLE, UPPER = [-3.0, -2.0, -1.0], [-0.5, 0.0, 0.5], [1.0, 2.0, 5.0]


MEMBERS = np.tile([LOWER, MIDDLE, UPPER], (6, 1, 1))


Y = np.array([0.0, 1.5, -2.5, 4.0, -1.0, 6.0])
