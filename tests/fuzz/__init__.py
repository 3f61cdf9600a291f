"""Hostile cases by the thousand: `make fuzz`, or `python -m tests.fuzz --only calibrator`.

Every case is made from a number, its seed, and keeps a promise or says what it broke. A broken one
is seen again with `--only NAME --seed NUMBER`.
"""
