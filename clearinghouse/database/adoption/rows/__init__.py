"""Owns: the rows of an adopted database: looked at before anything is changed, put aside, sealed, shown as generation
1.

Called by: adoption.prepare.
"""
