"""The exception tree of the crawler: only for what is not an ordinary outcome of a page."""


class CrawlerError(Exception):
    """Base of our own errors; its text is a sentence for people."""


class Fenced(CrawlerError):
    """This instance was declared dead by another: nothing of its batch was written, and it must stop."""


class NothingToCrawl(CrawlerError):
    """A launch whose chosen documents have no active crawl point."""


class UnknownView(NothingToCrawl):
    """A launch over a saved view that is gone, or asks for what does not exist: nothing is guessed."""


class AllBusy(CrawlerError):
    """Every chosen document is in an unfinished run."""


class TooManyAtOnce(CrawlerError):
    """Somebody asks for more at once than one person, or this house, can have; after `seconds` it may go."""

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class TimeUsedUp(CrawlerError):
    """An answer for which somebody waits would take longer than it may."""


class WrongMoment(CrawlerError):
    """A control (pause, resume …) that the run's state does not allow."""


class NeedsDecision(CrawlerError):
    """A propagation that would lose too much: a person must accept it."""

    def __init__(self, sentence: str, losses: list[dict[str, object]]) -> None:
        super().__init__(sentence)
        self.losses = losses
