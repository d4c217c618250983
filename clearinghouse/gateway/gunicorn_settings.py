"""What both web processes of the Procfile have in common: gunicorn reads it with --config python:….

They listen on socket files that only their own user opens, behind clearinghouse.gateway: it names the visitor by the
PROXY protocol, and its word on nothing else is asked for.
"""

umask = 0o077
proxy_protocol = "v1"
secure_scheme_headers: dict[str, str] = {}  # whose X-Forwarded-Proto is believed: clearinghouse.web.proxies
graceful_timeout = 3
loglevel = "warning"
control_socket_disable = True
