"""Owns: signing in: limits, passwords, sessions, who counts as one visitor.

Does not: know what people may do (policies). Called by: accounts, the middleware.
"""
