"""Owns: how to get bytes from a web server, safely and bounded, and how to sign in there.

    fetcher      where every request goes in; keeps a refused password from being tried again and again
    transports   which way of getting bytes a request takes, by its scheme and what it needs: the protocol Transport
    curl         libcurl, thousands at once: Basic, Digest, the cookies of a sign-in, and no key at all
    requests_fetcher  requests in a few threads, off that path: NTLM and sign-in forms (sign_in/)
    slots        when a request may go that is not the first one of its page
    body, size_limits, decoding, transfer_outcome, guarded_connections    the same limits, addresses and reasons for all

Does not: follow redirects (but those of a sign-in), retry, pace, or decide what is fetched and with which key.
Called by: the instance's loop, robots.txt, tests of a crawl point.
"""
