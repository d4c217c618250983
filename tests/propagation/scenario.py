"""A process of its own for tests on real servers: writes crawled results into the databases of its environment.

`python -m tests.propagation.scenario N` writes crawl number N over two documents and prints the texts a reader
must then see, as JSON: URL -> text.
"""

import json
import os
import sys

PAGES = 60


def texts(number: int) -> dict[str, str]:
    """The pages of crawl N: most change with every crawl, the set changes too."""
    pages = {"": "start"} | {f"{n}.html": f"page {n} of crawl {number} handover" for n in range(PAGES)}
    return pages | {f"only-{number}.html": f"only in crawl {number}"}


def main(number: int) -> dict[str, str]:
    from clearinghouse.library.models import Document
    from crawler.models import Run

    from .world import ROOT, World, add_document

    document = Document.objects.first() or add_document()
    world = World()
    world.runs = Run.objects.count()
    gone = {f"only-{older}.html": ("failed", "http_4xx", 404) for older in range(1, number)}
    for _ in range(2):  # a page leaves after two runs without it
        world.run(document, texts(number), also=gone)
    return {ROOT + path: text for path, text in texts(number).items()}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
    import django

    django.setup()
    json.dump(main(int(sys.argv[1])), sys.stdout)
