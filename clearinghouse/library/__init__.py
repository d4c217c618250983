"""Owns: documents, fields, projects, statuses, assignments. Does not: know crawl points. Called by: all above."""
