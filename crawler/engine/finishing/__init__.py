"""Owns: how an excursion and a run end, and what is counted of a crawl then. Called by: the strands, the tick."""
