"""The paper's baselines: the same rows and parts as CLEAR, other calibrators."""
