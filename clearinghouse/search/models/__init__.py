"""What people teach the public search, and what it was asked for. All of it lives in WebCrawl."""

from .curation import SearchRule
from .use import SearchUse

__all__ = ["SearchRule", "SearchUse"]
