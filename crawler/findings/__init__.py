"""Owns: what is wrong with the crawl of a document, said in one sentence each, with a repair where one press can do it.

`rules` are pure: facts in, findings out. `figures` sums up a ledger, also pure. `diagnosis` is the only writer of
both; `decisions` is what people do about a finding. Does not: crawl, show. Called by: jobs, screens.
"""
