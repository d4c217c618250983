"""Where gunicorn comes in."""

import os

from django.core.wsgi import get_wsgi_application

from clearinghouse.whole_bodies import WholeBodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
application = WholeBodies(get_wsgi_application())
