from datetime import timedelta

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

DAYS_LEFT = 90  # for keys that were made when keys never ended


def give_keys_an_end(apps, schema_editor):
    keys = apps.get_model('access', 'ApiKey').objects.using(schema_editor.connection.alias)
    now = timezone.now()
    keys.filter(revoked_at=None, user__is_active=False).update(revoked_at=now)
    keys.filter(expires_at=None).update(expires_at=now + timedelta(days=DAYS_LEFT))


def drop_sessions_of_before(apps, schema_editor):
    """They lasted 14 days whatever was asked for; everybody signs in once more."""
    connection = schema_editor.connection
    if 'django_session' in connection.introspection.table_names():
        schema_editor.execute('DROP TABLE django_session')


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BrowserSession',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('begun_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField()),
                ('address', models.CharField(default='', max_length=64)),
                ('browser', models.CharField(default='', max_length=60)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='browser_sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'clearinghouse_session',
            },
        ),
        migrations.CreateModel(
            name='RecentEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(db_index=True, max_length=64)),
                ('at', models.DateTimeField()),
                ('until', models.DateTimeField(db_index=True)),
            ],
            options={
                'db_table': 'clearinghouse_recent_event',
            },
        ),
        # Plainly, because what DeleteModel sends to SQL Server looks for foreign keys; nothing ever pointed here.
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel(name='FailedSignIn')],
            database_operations=[migrations.RunSQL('DROP TABLE clearinghouse_failed_sign_in')],
        ),
        migrations.AddField(
            model_name='apikey',
            name='expires_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='deactivated_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='person',
            name='must_change_password',
            field=models.BooleanField(db_column='must_change_password_fl', default=False),
        ),
        migrations.AlterField(
            model_name='person',
            name='role',
            field=models.CharField(blank=True, choices=[('developer', 'Content developer'), ('indexer', 'Indexer (read only)'), ('manager', 'Project manager'), ('administrator', 'Administrator')], default='developer', max_length=20),
        ),
        migrations.RunPython(give_keys_an_end, migrations.RunPython.noop),
        migrations.RunPython(drop_sessions_of_before, migrations.RunPython.noop),
    ]
