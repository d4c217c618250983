"""Owns: the four databases: aliases and router, the record with its metacolumns, column types, short transactions,
what a full disk means, SQL Server, adoption. Does not: know a table of the product. Called by: everybody.
"""
