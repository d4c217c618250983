"""Owns: one instance at work, in the order of a page: loop, local_queue, ready_queues, dispatch, child_processes,
response_kind, page_outcome, storage, counters, message_queue; at the end finish, finish_batch, backlink_counts.

Does not: decide (policy), fetch (fetch) or read pages (extract). Called by: the job serve, the command crawl.
"""
