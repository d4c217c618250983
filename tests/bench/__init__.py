"""Measurements beside peers, in one run on one machine: `make bench`. The suite runs them only in a tiny form."""
