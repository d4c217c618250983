from django.urls import path

from . import people, views

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("me/", views.preferences, name="me"),
    path("me/", views.preferences, name="preferences"),  # the name the page frame uses
    path("me/password/", views.password, name="password"),
    path("settings/people/", people.people, name="people"),
    path("settings/people/new/", people.person_new, name="person-new"),
    path("settings/people/<int:user_id>/", people.person_edit, name="person-edit"),
    path("settings/people/<int:user_id>/password/", people.person_password, name="person-password"),
    path("settings/people/<int:user_id>/active/", people.person_active, name="person-active"),
]
