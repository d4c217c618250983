"""Owns: what a web address is. Each address is parsed once, with the WHATWG parser, and that one result serves
scope, exclusion, the network check and the request (two parsers that disagree are an attack: threat T3).

Does not: fetch, or know crawl points. Called by: crawl point checks, policy, fetch, extract.
"""

from .address import MAX_LENGTH, Address, Refusal

__all__ = ["MAX_LENGTH", "Address", "Refusal"]
