"""Owns: every address of the API: the modules of the subjects have named theirs by now. Called by: urls, openapi."""

from crawlpoints.documents import api as documents
from crawlpoints.imports import api as imports
from crawlpoints.panel import api as crawl_points

from ..findings import api as findings
from ..launching import api as launching
from ..ledger import api as ledger
from ..preview import api as preview
from ..propagation import api as propagation
from ..runs import api as runs
from ..word_index import api as word_index
from .contract import router

SUBJECTS = (documents, crawl_points, imports, preview, runs, launching, ledger, findings, propagation, word_index)
ADDRESSES = tuple(router.addresses.values())
