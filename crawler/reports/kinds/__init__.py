"""Owns: the reports, one module each. Called by: reports/views."""
