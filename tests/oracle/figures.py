"""How the graphs were distributed: what a figure of differences is worth. Lanes send theirs as JSON."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compare import Result

KINDS = ["redirects", "several crawl points", "several documents", "several instances", "killed and resumed", "maxima",
         "excludes", "duplicates", "failures", "robots.txt", "nofollow", "crawled twice"]  # fmt: skip


@dataclass
class Figures:
    kinds: Counter[str] = field(default_factory=Counter)
    instances: Counter[int] = field(default_factory=Counter)  # how many processes -> graphs
    sizes: list[int] = field(default_factory=list)
    kills: int = 0
    urls: int = 0
    differ: int = 0

    def add(self, result: "Result") -> None:
        world = result.world
        documents, nodes = world.documents, world.nodes.values()
        self.kinds["redirects"] += result.redirects
        self.kinds["several crawl points"] += any(len(document.points) > 1 for document in documents)
        self.kinds["several documents"] += len(documents) > 1
        self.kinds["several instances"] += world.instances > 1
        self.kinds["killed and resumed"] += result.killed > 0
        self.kinds["maxima"] += world.limited
        self.kinds["excludes"] += any(document.excludes for document in documents)
        self.kinds["duplicates"] += sum(node.duplicate for node in nodes) > 1
        self.kinds["failures"] += any(node.status >= 400 for node in nodes)
        self.kinds["robots.txt"] += bool(world.robots)
        self.kinds["nofollow"] += any(node.nofollow or any(link[1] for link in node.links) for node in nodes)
        self.kinds["crawled twice"] += world.twice
        self.instances[world.instances] += 1
        self.sizes.append(len(world.nodes))
        self.kills += result.killed
        self.urls += result.urls
        self.differ += bool(result.differences)

    def as_json(self) -> dict[str, Any]:
        return vars(self)

    def take(self, told: dict[str, Any]) -> None:
        """Add what a lane told."""
        self.kinds.update(told["kinds"])
        self.instances.update({int(number): count for number, count in told["instances"].items()})
        self.sizes += told["sizes"]
        self.kills, self.urls = self.kills + told["kills"], self.urls + told["urls"]
        self.differ += told["differ"]

    def table(self, seconds: float) -> str:
        sizes, graphs = sorted(self.sizes), len(self.sizes)
        if not graphs:
            return "no graph was crawled"
        lines = [f"{'graphs':<22} {graphs:>5}  pages {sizes[0]}..{sizes[-1]}, median {sizes[graphs // 2]}"]
        lines += [f"{name:<22} {self.kinds[name]:>5}  {self.kinds[name] / graphs:4.0%}" for name in KINDS]
        shares = ", ".join(f"{number}: {self.instances[number] / graphs:.0%}" for number in sorted(self.instances))
        lines.append(f"{'instances':<22} {sum(n * c for n, c in self.instances.items()):>5}  {shares}")
        lines.append(f"{'kills':<22} {self.kills:>5}")
        lines.append(f"{'URLs compared':<22} {self.urls:>5}")
        lines.append(f"{'graphs that differ':<22} {self.differ:>5}  in {seconds:.0f} s")
        return "\n".join(lines)
