"""The crawl against its oracle: random sites over real HTTP, crawled by the product (1-4 processes, kill -9) and by a
slow reference crawler that repeats the rules until nothing changes.

    python -m tests.oracle --graphs 200 --seed 1    prints how the graphs were distributed, and every difference
    python -m tests.oracle --only 1234 --shrink     one graph again, made as small as its difference allows
"""
