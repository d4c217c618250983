"""What can be asked of a run now. Pure."""

from ..models import OPEN_STATES, Run, State

SPEEDS = {"polite": "Polite", "medium": "Medium", "fast": "Fast"}


def controls_of(run: Run) -> list[str]:
    """The commands of its page: pause, resume, stop, cancel, speed."""
    if run.state not in OPEN_STATES:
        return []
    if run.control in ("stop", "cancel") or run.state == State.STOPPING:
        return ["cancel"] if run.control == "stop" else []
    return ["resume" if run.control == "pause" or run.state == State.PAUSED else "pause", "stop", "cancel", "speed"]
