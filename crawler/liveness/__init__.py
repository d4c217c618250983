"""Owns: which processes live, what a dead one leaves behind, and whose fault it was. Called by: engine, tick."""
