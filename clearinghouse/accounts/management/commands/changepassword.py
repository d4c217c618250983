import getpass
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.management.commands import changepassword

from clearinghouse.accounts import services
from clearinghouse.database.records import acting_as


class Command(changepassword.Command):
    """Django's own, for who forgot the password of the only administrator; it knows nothing of sessions and keys."""

    help = "Changes the password of an account from the command line; its sessions and API keys end."

    def handle(self, *args: Any, **options: Any) -> Any:
        said = super().handle(*args, **options)
        user = get_user_model().objects.get_by_natural_key(options["username"] or getpass.getuser())
        with acting_as("command changepassword"):
            services.password_was_changed(user, end_keys=True)
        return said
