"""Owns: crawl points and exclude URLs from CSV: what each line would do, doing it, taking it back. Called by: its
views, the API, a job for long ones.
"""
