"""Owns: a copy of the whole house as it was at one moment, taken while everything runs, and its way back.

What refers to what decides the moment: WebCrawl names rows of the library, targets hold what WebCrawl named. The files
of SQLite are held still together for some milliseconds, so that all four copies show the same moment; databases on
servers are read in the order WebCrawl, library, targets, so that nothing named is missing (rows of the library are
never erased, and a target that is newer than WebCrawl is compared by digest at the next propagation).

take → cut (the moment) → sqlite | postgres (the copies) → manifest (digests, versions). bring_back reads the manifest,
looks who still works here (running), sets the old files aside and puts the copies in their place.
Does not: know schedules of backups. Called by: the commands backup and restore.
"""
