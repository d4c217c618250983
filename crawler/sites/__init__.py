"""Owns: how gently each site is treated: pace, robots.txt, silences, passwords.

Does not: fetch. Called by: engine, preview.
"""
