"""Owns: looking before crawling: one address fetched now, a sign-in tried, a preview of at most 25 pages.

    line      one guarded request, one page read, each within a deadline
    visit     one address with every redirect hop checked again, and what its page holds
    detect    the sign-in form of a page
    sign_in   a sign-in step by step, with a plain verdict
    sign_in_tries   with which password, and how often
    drafts    entries that are not saved yet as settings
    dry_run   the preview: the crawler's own frontier, fetch and extract functions, and nothing stored
    rows      the one row of a preview: asked for, followed, read

Does not: store pages, or touch a ledger. Called by: the screens of crawl points, the job `preview`.
"""
