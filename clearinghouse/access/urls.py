from django.urls import path

from . import options_screens, own_keys, own_sessions, people, people_keys, projects, settings_index, views

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
    path("settings/", settings_index.index, name="settings"),
    path("settings/networks/", settings_index.networks, name="networks"),
    path("settings/launching/", options_screens.launching, name="launching"),
    path("settings/crawl-defaults/", options_screens.crawl_defaults, name="crawl-defaults"),
    path("settings/notices/", options_screens.notice_defaults, name="notice-defaults"),
    path("settings/projects/", projects.projects, name="projects"),
    path("settings/projects/<int:project_id>/", projects.project_edit, name="project-edit"),
    path("settings/projects/<int:project_id>/delete/", projects.project_delete, name="project-delete"),
    path("settings/api-keys/", people_keys.listed, name="people-keys"),
    path("settings/api-keys/<int:key_id>/revoke/", people_keys.revoke, name="people-key-revoke"),
    path("settings/people/", people.people, name="people"),
    path("settings/people/new/", people.person_new, name="person-new"),
    path("settings/people/<int:user_id>/", people.person_edit, name="person-edit"),
    path("settings/people/<int:user_id>/password/", people.person_password, name="person-password"),
    path("settings/people/<int:user_id>/active/", people.person_active, name="person-active"),
]
