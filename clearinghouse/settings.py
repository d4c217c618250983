"""Django's settings, all from the environment: see env.py for the table of variables."""

import base64
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from . import env
from .database import aliases
from .operations import private_files
from .web import proxies

env.refuse_nonsense()
private_files.close_new_files()
BASE_DIR = env.BASE
VAR = env.var()
PRODUCTION = env.production()
DEBUG = env.flag("DEBUG")


def _kept(name: str, make: Any) -> str:
    """A secret of a development install: made once, mode 0600, outside the databases."""
    path = VAR / name
    if not path.exists():
        handle, whole = tempfile.mkstemp(dir=VAR, prefix=name)
        with os.fdopen(handle, "w") as file:
            file.write(make())
        with suppress(FileExistsError):  # another process was faster, and what it made is whole, too
            os.link(whole, path)
        os.unlink(whole)
    return path.read_text().strip()


def _kept_in_a_file(name: str) -> str:
    """Named, not read: processes that run see a key that is added (manage.py rotate_keys)."""
    _kept(name, lambda: "dev:" + base64.b64encode(secrets.token_bytes(32)).decode())
    return f"file:{(VAR / name).resolve()}"


def _required(name: str, development: Any) -> str:
    value = env.text(name)
    if value:
        return value
    if PRODUCTION:
        raise ImproperlyConfigured(f"Set {env.PREFIX}{name}: a production server does not start without it.")
    return development()


SECRET_KEY = _required("SECRET_KEY", lambda: _kept("secret.key", lambda: secrets.token_urlsafe(50)))
CREDENTIAL_KEYS = _required("CREDENTIAL_KEYS", lambda: _kept_in_a_file("credential.keys"))
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS") or ([] if PRODUCTION else ["localhost", "127.0.0.1", "[::1]"])
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured("CLEARINGHOUSE_DEBUG=1 is refused in production: tracebacks show passwords.")
if PRODUCTION and len(SECRET_KEY) < 50:
    raise ImproperlyConfigured("CLEARINGHOUSE_SECRET_KEY must be at least 50 random characters.")
if PRODUCTION and (not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS):
    raise ImproperlyConfigured("Set CLEARINGHOUSE_ALLOWED_HOSTS to the host names of this server; * is refused.")

# Not here: django_tables2, a library for us; as an app it makes every process load psycopg (0.1 s).
INSTALLED_APPS = [
    "clearinghouse.accounts",
    "clearinghouse.database.adoption",
    "clearinghouse.audit",
    "clearinghouse.library",
    "clearinghouse.local",
    "clearinghouse.published",
    "clearinghouse.search",
    "crawlpoints",
    "clearinghouse.web",
    "crawler",
    "crawler.propagation",
    "crawler.upkeep",
    "crawler.word_index",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.forms",
    "django_htmx",
    "django_rq",
]

MIDDLEWARE = [
    "clearinghouse.web.proxies.OwnProxiesOnly",
    "django.middleware.security.SecurityMiddleware",
    "clearinghouse.web.middleware.NamedRequest",
    "clearinghouse.web.middleware.ContentSecurity",
    "clearinghouse.web.middleware.WithoutNul",
    "clearinghouse.web.middleware.BodyLimit",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "clearinghouse.web.middleware.NobodyForMachines",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "clearinghouse.web.middleware.KeyOrSession",
    "clearinghouse.web.middleware.SignInRequired",
    "clearinghouse.web.middleware.SessionInUse",
    "clearinghouse.web.middleware.OwnPasswordFirst",
    "clearinghouse.web.middleware.Acting",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "clearinghouse.urls"
WSGI_APPLICATION = "clearinghouse.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "clearinghouse.web.base_context.frame",
            ],
            "builtins": ["clearinghouse.web.templatetags.formats"],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"


def _database(name: str, file: str) -> dict[str, Any]:
    try:
        return aliases.from_url(env.text(name) or f"sqlite:///{Path(VAR, file).resolve()}")
    except ValueError:  # its words may quote a part of the password
        raise SystemExit(
            f"{env.PREFIX}{name} must be sqlite:///…, postgres://… or mssql://…; what is special in a password is "
            "written like %40"
        ) from None


DATABASES = {
    aliases.DEFAULT: _database("DB", "doc_library.sqlite3"),
    aliases.WEBCRAWL: _database("DB_WEBCRAWL", "webcrawl.sqlite3"),
    aliases.PRIMARY: _database("DB_PRIMARY", "primary.sqlite3"),
    aliases.BACKUP: _database("DB_BACKUP", "backup.sqlite3"),
}
DATABASE_ROUTERS = ["clearinghouse.database.aliases.Router"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis only wakes workers; the rows are the truth. Unix socket paths must stay under 108 characters.
REDIS_URL = env.text("REDIS_URL") or f"unix://{env.socket_file('redis')}"
RQ_QUEUES = {
    name: {"URL": REDIS_URL, "DEFAULT_TIMEOUT": 3600, "SERIALIZER": "rq.serializers.JSONSerializer"}
    for name in ("control", "crawl", "propagate", "preview")
}
RQ = {
    "JOB_CLASS": "clearinghouse.operations.work_queues.TrustedJob",
    "WORKER_CLASS": "clearinghouse.operations.workers.OurWorker",
    "COMMIT_MODE": "auto",
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# The second one only for sessions that were begun with it; see the first.
AUTHENTICATION_BACKENDS = [
    "clearinghouse.accounts.sign_in.sessions.PeopleBackend",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"
SESSION_ENGINE = "clearinghouse.accounts.sign_in.sessions"
SESSION_COOKIE_AGE = 12 * 3600  # what really ends a session: see sessions.py
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

SECURE_COOKIES = PRODUCTION and not env.flag("INSECURE_COOKIES")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = SECURE_COOKIES
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked by machines of the house, over plain http
SECURE_HSTS_SECONDS = 31_536_000 if SECURE_COOKIES else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE_COOKIES
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"  # browsers that know frame-ancestors use that instead
if proxies.networks():  # clearinghouse.web.proxies takes this header off requests of anybody else
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
_PUBLIC = urlsplit(env.text("PUBLIC_URL"))
if env.text("PUBLIC_URL") and not (_PUBLIC.scheme in {"http", "https"} and _PUBLIC.hostname):
    raise ImproperlyConfigured("CLEARINGHOUSE_PUBLIC_URL must be an address like https://clearinghouse.example.org")
CSRF_TRUSTED_ORIGINS = [f"{_PUBLIC.scheme}://{_PUBLIC.netloc}"] if _PUBLIC.hostname else []
CSRF_COOKIE_AGE = None  # until the browser is closed; who only searches gets none at all
CSRF_FAILURE_VIEW = "clearinghouse.accounts.views.csrf_refused"
DEFAULT_EXCEPTION_REPORTER_FILTER = "clearinghouse.web.tracebacks.NamesOnly"

# Without a mail server notices stay in the In Tray; nothing is ever sent by accident.
_MAIL = urlsplit(env.text("MAIL"))
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if _MAIL.hostname else 'dummy'}.EmailBackend"
EMAIL_HOST, EMAIL_PORT = _MAIL.hostname or "localhost", _MAIL.port or (465 if _MAIL.scheme == "smtps" else 587)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_MAIL.username or ""), unquote(_MAIL.password or "")
EMAIL_USE_SSL = _MAIL.scheme == "smtps"
EMAIL_USE_TLS = _MAIL.scheme == "smtp" and _MAIL.username is not None  # a password travels encrypted or not at all
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text("MAIL_FROM")

LANGUAGE_CODE = "en"
USE_I18N = True  # not for other languages: what Django says stands in our words in locale/en
LOCALE_PATHS = [BASE_DIR / "clearinghouse" / "locale"]
USE_TZ = True
TIME_ZONE = env.text("TIME_ZONE")
USE_THOUSAND_SEPARATOR = False

STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True  # every page names them by their digest: half the time to collect and compress
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
DJANGO_TABLES2_TEMPLATE = "web/table.html"

_FORMATS = {"text": "line", "json": "json"}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "clearinghouse.operations.logs.OneLine",
            "format": "{asctime} {levelname:<7} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "clearinghouse.operations.logs.OneObject"},
    },
    "filters": {"brief": {"()": "clearinghouse.operations.logs.Brief"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": _FORMATS[env.text("LOG_FORMAT").lower()],
            "filters": ["brief"],
        },
        "faults": {"class": "crawler.liveness.error_log.Keeper", "level": "ERROR"},
    },
    "root": {"handlers": ["stderr", "faults"], "level": env.text("LOG_LEVEL").upper()},
    "loggers": {"django.db.backends": {"level": "INFO"}, "rq": {"level": "WARNING"}},
}
