"""Owns: passwords of crawled sites, sealed. Does not: hold the passwords of people. Called by: crawlpoints, crawler."""
