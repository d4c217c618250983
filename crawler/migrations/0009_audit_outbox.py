from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("crawler", "0008_strands"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditOutbox",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("line", models.JSONField()),
            ],
            options={
                "db_table": "audit_outbox",
            },
        ),
    ]
