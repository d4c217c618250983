"""Nothing asks a site because of a person but by crawler.preview.throttled_client.looking (threat T39)."""

import ast

from tests.house.tree import imports, modules

# Who may make what speaks to other machines, and as whom.
MAKERS = {
    "Fetcher": {
        "crawler.fetch.fetcher",  # what it is made of
        "crawler.engine.dispatch",  # a crawl, at the pace of its sites
        "crawler.preview.throttled_client",  # a look, at the same pace
    },
    "Line": {
        "crawler.fetch.requests_fetcher",  # one connection of a fetcher, another class of this name
        "crawler.preview.throttled_client",  # looking(): one a person, few a process
        "crawler.preview.dry_run",  # a preview, in a worker of its own
    },
    "Session": {"crawler.inbox.webhooks", "crawler.fetch.requests_exchange"},
}
SPEAKERS = {"http.client", "httpx", "pycurl", "requests", "smtplib", "socket", "urllib.request", "urllib3"}
SPEAKING = {
    "clearinghouse.local.ports", "clearinghouse.local.redis_server", "clearinghouse.local.serve",  # of this machine
    "clearinghouse.gateway.visitor_connections",  # of its own port
    "clearinghouse.addresses.networks",  # reads addresses, opens nothing
    "crawlpoints.dialog.host_names",  # a name, which is a look as well
    "crawler.liveness.instances",  # the name of this machine
    "crawler.engine.child_processes",  # a pair of sockets between two processes of ours
    "crawler.extract.parser_process",
    "crawler.inbox.notice_mail", "crawler.inbox.webhooks",  # mails and calls, from the job that tells
}  # fmt: skip
FOR_WORKERS = {
    "crawler.inbox.webhooks",
    "crawler.inbox.notice_mail",
    "crawler.propagation.switching.load_balancer",
    "crawler.preview.throttled_client",
}


def made(name: str) -> set[str]:
    """The modules of the crawler that call something of this name."""
    return {
        module.name
        for module in modules("crawler", "crawlpoints").values()
        if name != "Line" or any(other.startswith(("crawler.preview", "crawler.fetch")) for other in imports(module))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name
    }


def spoken(tree: ast.Module) -> set[str]:
    """The modules of others that are imported, at the top or inside a function."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_only_known_modules_make_what_asks_a_site() -> None:
    assert {name: made(name) - makers for name, makers in MAKERS.items()} == {name: set() for name in MAKERS}


def test_only_known_modules_speak_to_other_machines() -> None:
    wrong = [
        f"{module.name} imports {other}"
        for module in modules().values()
        for other in spoken(module.tree) & SPEAKERS
        if module.name not in SPEAKING and not module.name.startswith("crawler.fetch.")
    ]
    assert not wrong


def test_no_screen_reaches_past_the_looks() -> None:
    wrong = [
        f"{module.name} imports {other}"
        for module in modules().values()
        for other in imports(module)
        if "screens" in module.name.split(".") and (other in FOR_WORKERS or other.startswith("crawler.fetch"))
    ]
    assert not wrong
