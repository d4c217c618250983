"""The crawl against its oracle: random sites over real HTTP, crawled by the product (1-4 processes, kill -9) and by a
slow reference crawler that repeats the rules until nothing changes.

    python -m tests.oracle --graphs 2000 --seed 1   prints how the graphs were distributed, and every difference
    python -m tests.oracle --only 1000234           one graph again, by the seed its difference was printed with
"""
