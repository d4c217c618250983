"""Owns: whether this process answers, and whether what it stands on is there. Does not: know what a crawl is.

/healthz says that the process answers and touches nothing; /readyz says what is missing, in plain sentences without
an address, a version or a password. Called by: load balancers and process managers; doctor and System status ask look.
"""
