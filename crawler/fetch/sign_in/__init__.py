"""Owns: what opens the pages of a crawl point: Digest, sign-in forms, cookies. Called by: fetch."""
