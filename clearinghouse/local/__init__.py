"""Owns: what `make run` starts on one machine: the embedded Redis, the checks before it, the demo site, the end of it.

Does not: know crawling, or any table. Called by: the commands serve, embedded_redis and demo_site (see the Procfile).
A server farm uses none of this: it runs the Procfile's web, worker and tick lines under its own process manager.
"""
