"""Owns: the forms of this room, and how a form's problems are listed. Does not: save. Called by: views."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import PasswordChangeForm
from django.db.models import QuerySet
from django.http import HttpRequest

from clearinghouse.library.models import Project

from .keys import api_keys as keys
from .models import Role
from .sign_in import own_password
from .sign_in.password_hashing import TooManySignIns
from .sign_in.sign_in_limits import TooManyTries

_PLAIN = {"autocapitalize": "none", "spellcheck": "false"}


def problems_of(form: forms.BaseForm) -> list[tuple[str, str]]:
    """For web/problem.html: (id of the control or "", message), in the order of the form."""
    found = [("", str(message)) for message in form.non_field_errors()]
    for field in form:
        found += [(field.id_for_label or field.auto_id, str(message)) for message in field.errors]
    return found


class RowsField(forms.ModelMultipleChoiceField):
    """Several rows by their numbers. A number that no column holds is no choice; SQLite cannot even be asked for it."""

    def clean(self, value: Any) -> Any:
        try:
            return super().clean(value)
        except OverflowError:
            message = self.error_messages["invalid_choice"]
            raise forms.ValidationError(message, code="invalid_choice", params={"value": "This"}) from None


class SignInForm(forms.Form):
    username = forms.CharField(
        label="User name",
        max_length=150,
        error_messages={"required": "Enter your user name"},
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True, **_PLAIN}),
    )
    password = forms.CharField(
        label="Password",
        max_length=1000,
        strip=False,
        error_messages={"required": "Enter your password"},
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    stay = forms.BooleanField(label="Keep me signed in for 14 days", required=False)


class PreferencesForm(forms.Form):
    theme = forms.ChoiceField(
        label="Colours",
        choices=[("system", "Same as the system"), ("light", "Light"), ("dark", "Dark")],
        widget=forms.RadioSelect,
    )

    keys = forms.BooleanField(
        label="Single-letter keys",
        required=False,
        help_text="n adds, e updates, t tests, / searches; the help names them all. Off while you type in a field.",
    )
    rows = forms.ChoiceField(
        label="Rows per page",
        required=False,
        choices=[("", "Default of each list"), ("20", "20"), ("50", "50"), ("100", "100")],
        widget=forms.RadioSelect,
    )


def _check_own_password(request: HttpRequest, typed: str) -> None:
    """Raises ValidationError with a sentence: wrong, tried too often, or too many people at this moment."""
    try:
        right = own_password.is_typed(request, typed)
    except (TooManyTries, TooManySignIns) as refusal:
        raise forms.ValidationError(str(refusal)) from refusal
    if not right:
        raise forms.ValidationError("This is not your password")


class OwnPasswordForm(PasswordChangeForm):
    """One's own new password, which the old one opens; keys made with the old one may end with it."""

    end_keys = forms.BooleanField(required=False, initial=True)

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(request.user, *args)
        self.request = request
        self.fields["old_password"].label = "Your current password"
        self.fields["new_password2"].label, self.fields["new_password2"].help_text = "The new password again", ""
        self.fields["new_password1"].help_text = "Ten characters or more; a sentence is easy to remember."
        if number := keys.live_keys(request.user).count():
            self.fields["end_keys"].label = f"End my API keys, too ({number})"
            self.fields["end_keys"].help_text = "Programs that use them are refused from then on."
        else:
            del self.fields["end_keys"]

    def clean_old_password(self) -> str:
        typed = str(self.cleaned_data["old_password"])
        _check_own_password(self.request, typed)
        return typed

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean()
        if "old_password" in found and found["old_password"] == found.get("new_password2"):
            self.add_error("new_password2", "This is your current password: choose another one")
        return {"end_keys": False} | found


class KeyForm(forms.Form):
    name = forms.CharField(
        label="What it is for",
        max_length=60,
        help_text="So that you can tell your keys apart, for example: nightly export.",
        error_messages={"required": "Say what the key is for"},
    )
    days = forms.TypedChoiceField(
        label="How long it works",
        choices=[(days, "1 year" if days == 365 else f"{days} days") for days in keys.LIVES],
        coerce=int,
        initial=keys.DAYS,
        help_text="It ends by itself then; make a new one before.",
    )
    password = forms.CharField(
        label="Your password",
        max_length=1000,
        strip=False,
        help_text="So that nobody else can make a key in a browser you left open.",
        error_messages={"required": "Enter your password"},
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(*args)
        self.request = request

    def clean_password(self) -> str:
        _check_own_password(self.request, self.cleaned_data["password"])
        return ""


class PersonForm(forms.Form):
    """Who somebody is and what they may do; the user name is asked once."""

    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(label="Last name", max_length=150, required=False)
    email = forms.EmailField(label="E-mail", required=False)
    role = forms.ChoiceField(
        label="Role", choices=Role.choices, widget=forms.RadioSelect, error_messages={"required": "Choose a role"}
    )
    projects = RowsField(
        label="Projects",
        queryset=Project.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="People see the documents of their projects.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["projects"].queryset = Project.objects.all()

    def limit(self, projects: QuerySet[Project], roles: Iterable[Role]) -> None:
        """To what a project manager gives."""
        self.fields["projects"].queryset = projects
        self.fields["projects"].help_text = "Those of your projects; memberships in others stay as they are."
        self.fields["role"].choices = [(role.value, role.label) for role in roles]

    def fix_all_but_projects(self) -> None:
        for name, field in self.fields.items():
            field.disabled = name != "projects"

    def names(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in ("first_name", "last_name", "email")}


class NewPersonForm(PersonForm):
    username = forms.CharField(
        label="User name",
        max_length=150,
        error_messages={"required": "Enter a user name"},
        validators=get_user_model()._meta.get_field("username").validators,
        widget=forms.TextInput(attrs={"autocomplete": "off", **_PLAIN}),
    )
    field_order = ["username"]

    def clean_username(self) -> str:
        name = get_user_model().normalize_username(self.cleaned_data["username"])
        if get_user_model().objects.filter(username__iexact=name).exists():
            raise forms.ValidationError("This user name is already taken")
        return name
