"""Owns: how to get bytes from a web server, safely and bounded: libcurl, its limits, what the end of a transfer means.

Does not: follow redirects, retry, pace, or decide what is fetched. Called by: the instance's loop, robots.txt, tests
of a crawl point. Other ways of getting a page (NTLM, sign-in forms) are modules beside curl with the same answer.
"""
