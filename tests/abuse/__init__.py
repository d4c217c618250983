"""Whoever is slow, or asks for everything at once, beside people who work: what these wait (make abuse)."""
