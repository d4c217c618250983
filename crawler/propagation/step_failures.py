"""What stops a propagation at a step; each text is a sentence for people."""

from crawler.errors import CrawlerError


class Differs(CrawlerError):
    """A target does not hold what was loaded: counts, digests, contents or sample queries."""


class NotSafe(CrawlerError):
    """A target must not be touched now, because it serves the public or has seen a later generation."""


class NotFollowed(CrawlerError):
    """The load balancer did not do what the switch told it; tried again by itself, like a server that is down."""
