"""The paper's baselines, which use the rows and parts of CLEAR with other calibrators."""
