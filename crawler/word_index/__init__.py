"""Owns: the word index of the seeds over what a target shows: word <-> id, word -> pages, page -> words, page <->
address, parent <-> child, and the lexicon's counts; the only writer of the lexicon.

The full text index of clearinghouse.search finds the pages a word may stand on; words, frequencies and positions are
read from the stored text, page by page, when somebody asks. Everything here is derived and can be built again.
Does not: publish, search, decide which generation is live. Called by: the commands word, page, export_index and
rebuild_index, crawler.propagation (counts follow the generation), the tick, its views and API.
"""
