"""The crawler. It knows no request and no user, except in its screens and its API. The flow, in its own words:

1. launching     a crawl is asked for: a run, an excursion for each document, a snapshot of its crawl points
2. jobs          what RQ workers run; the command `crawl` does without them
3. initializer   crawl points become messages: one message_queue for each document
4. loop          the event loop of one instance: claims queues, looks at orders and at the dead, commits batches
5. local_queue   one claimed queue in memory; policy/frontier decides what is found, for whom, how deep
6. dispatch      requests out, answers in: sites (pace, robots.txt), fetch (bytes, guarded), child_processes beside it
7. page_outcome  one answer -> one verdict, one version, its links; storage writes it all in one transaction
8. finishing     an empty queue is deleted, the excursion is finished, then the run
9. propagation   collects the newest results, loads them beside the live ones on each target, switches
10. tick         every five seconds: wakes workers again, frees what dead processes held, brings the public home

Steps 3 to 8 are crawler/engine; who lives and who is dead is crawler/liveness; pages about runs and addresses are
crawler/runs and crawler/ledger.
"""
