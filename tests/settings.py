"""The product's settings with a throw-away state folder of this test process."""

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="clearinghouse-test-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["CLEARINGHOUSE_VAR"] = _folder
os.environ.setdefault("CLEARINGHOUSE_ALLOWED_NETWORKS", "127.0.0.0/8")
os.environ.setdefault("CLEARINGHOUSE_ALLOWED_PORTS", "80,443,1024-65535")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

from clearinghouse.settings import *  # noqa: E402, F403

STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
