"""Owns: the jobs of crawl points that RQ workers run. An id comes in, the row is the truth."""


def import_points(import_id: int) -> None:
    from .imports import import_steps

    import_steps.carry_out(import_id)
