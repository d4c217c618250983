"""Owns: what keeps the product running: work queues and their workers, logs, files only we may read, memory, health.

Does not: know what a job does. Called by: everybody; the commands.
"""
