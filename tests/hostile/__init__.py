"""Hostile input by the thousand: broken HTTP answers, broken documents, bombs.

python -m tests.hostile prints the figures of the long form; test_hostile runs the short form of everything.
"""
