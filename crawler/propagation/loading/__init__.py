"""Owns: what a step of a propagation does to a target: collect, compare, load, index, verify. Called by: step_work."""
