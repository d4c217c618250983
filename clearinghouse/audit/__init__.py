"""Owns: the append-only record of who did what. Does not: judge. Called by: services."""
