"""BACK: the crawler. It knows no request and no user, except in screens/. The flow, in its own words:

1. launch        a crawl is asked for: a run, an excursion for each document, a snapshot of its crawl points
2. jobs          what RQ workers run; the command `crawl` does without them
3. initializer   crawl points become messages: one message_queue for each document
4. instance      the event loop of a process: claims queues, looks after rivals and orders, commits batches
5. served        one claimed queue in memory; policy/frontier decides what is found, for whom, how deep
6. traffic       requests out, answers in: hosts (pace, robots.txt), fetch (bytes, guarded), parsers beside the loop
7. reading       one answer -> one verdict, one version, its links; results writes it all in one transaction
8. endings       an empty queue is deleted, the excursion is finished, then the run
9. propagation   collects the newest results, loads them beside the live ones on each target, switches
10. tick         every five seconds: wakes workers again, frees what dead processes held, brings the public home
"""
