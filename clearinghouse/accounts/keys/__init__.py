"""Owns: personal API keys: made, recognized, ended, and the pages that show them. Never shows a key twice."""
