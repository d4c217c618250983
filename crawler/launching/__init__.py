"""Owns: how a crawl begins, by a person or by itself, and what may be asked of one that runs. Called by: screens, API,
commands, the tick.
"""
