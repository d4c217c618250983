"""make bench"""

from tests.bench.crawl import main

main()
