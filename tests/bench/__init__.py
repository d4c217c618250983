"""Measurements beside peers, in one run on one machine: `make bench`. Not part of the suite."""
