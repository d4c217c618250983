"""Owns: how to get bytes from a web server, safely and bounded, and how to sign in there.

    desk         where every request goes in; keeps a refused password from being tried again and again
    curl         libcurl, thousands at once: Basic, Digest (digest), the cookies of a sign-in (jar), and no key at all
    signed       requests in a few threads, off that path: NTLM (exchange) and sign-in forms (sign_in, forms)
    turns        when a request may go that is not the first one of its page
    body, limits, decoding, outcome, guarded    the same limits, addresses and reasons for both

Does not: follow redirects (but those of a sign-in), retry, pace, or decide what is fetched and with which key.
Called by: the instance's loop, robots.txt, tests of a crawl point.
"""
