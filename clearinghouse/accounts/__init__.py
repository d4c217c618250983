"""Owns: roles, sign-in, who may do what. Does not: know crawl points or runs. Called by: every screen."""
