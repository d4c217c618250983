"""Owns: what mssql-django must be told before it talks to SQL Server for us (see base).

Loaded only when an address begins with mssql://. Called by: Django, by the name that databases.from_url gives it.
"""
