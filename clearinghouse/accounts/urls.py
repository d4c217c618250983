from django.urls import path

from . import options_views, people_views, project_views, settings_views, views
from .keys import all_keys, own_keys
from .sign_in import own_sessions

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("me/", views.preferences, name="me"),
    path("me/", views.preferences, name="preferences"),  # the name the page frame uses
    path("me/password/", views.password, name="password"),
    path("me/single-keys/", views.single_keys, name="single-keys"),
    path("me/keys/", own_keys.listed, name="api-keys"),
    path("me/keys/new/", own_keys.new, name="api-key-new"),
    path("me/keys/<int:key_id>/revoke/", own_keys.revoke, name="api-key-revoke"),
    path("me/sessions/", own_sessions.listed, name="own-sessions"),
    path("me/sessions/end-others/", own_sessions.end_others, name="own-sessions-end-others"),
    path("me/sessions/<slug:session>/end/", own_sessions.end, name="own-session-end"),
    path("settings/", settings_views.index, name="settings"),
    path("settings/networks/", settings_views.networks, name="networks"),
    path("settings/launching/", options_views.launching, name="launching"),
    path("settings/crawl-defaults/", options_views.crawl_defaults, name="crawl-defaults"),
    path("settings/notices/", options_views.notice_defaults, name="notice-defaults"),
    path("settings/projects/", project_views.projects, name="projects"),
    path("settings/projects/<int:project_id>/", project_views.project_edit, name="project-edit"),
    path("settings/projects/<int:project_id>/delete/", project_views.project_delete, name="project-delete"),
    path("settings/api-keys/", all_keys.listed, name="people-keys"),
    path("settings/api-keys/<int:key_id>/revoke/", all_keys.revoke, name="people-key-revoke"),
    path("settings/people/", people_views.people, name="people"),
    path("settings/people/new/", people_views.person_new, name="person-new"),
    path("settings/people/<int:user_id>/", people_views.person_edit, name="person-edit"),
    path("settings/people/<int:user_id>/password/", people_views.person_password, name="person-password"),
    path("settings/people/<int:user_id>/active/", people_views.person_active, name="person-active"),
]
