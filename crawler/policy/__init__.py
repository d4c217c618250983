"""Owns: decisions: which page an address names, whether it is crawled, what robots.txt allows, what a find changes.

Does not: touch a database, a network or a clock; all of it is pure. Called by: the instance, the explainer, previews.
"""
