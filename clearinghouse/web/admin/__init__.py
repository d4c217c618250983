"""Owns: who enters Django's admin, and what tables with metacolumns share there. Called by: every admin.py."""
