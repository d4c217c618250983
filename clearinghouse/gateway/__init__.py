"""Owns: the port of the house: requests are read whole, however slowly they come, before a thread works on them, and
answers are taken whole, however slowly they are read.

    addresses   which process answers which address, and on which socket file it listens
    turns       whose request goes next, so that nobody takes the threads of everybody
    exchange    one request brought to its process, and the answer brought back
    body        bytes that wait, in memory or in a file
    server      the connections: who may have one, and for how long it may keep us waiting

Does not: know Django, a person or a page. Called by: the line `front` of the Procfile.
"""
