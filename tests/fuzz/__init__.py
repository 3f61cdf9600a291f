"""Hostile cases by the thousand: `make fuzz`, or `python -m tests.fuzz --only calibrator`.

Every case is made from a number, its seed. It passes if a promise holds, and else says how it was
broken; `--only NAME --seed NUMBER` runs such a case again.
"""
