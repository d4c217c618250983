"""Owns: making the four databases, adopting existing ones, the seed's tables that are views, needed rows.

Does not: crawl, propagate, or change anything of an existing doc_library but what README "Databases" lists: it adds
columns and indexes, widens narrow columns, seals plain passwords, renames the two results tables to …_before.
Called by: the command `prepare`; pre_migrate and post_migrate (the views and the rows).
"""
