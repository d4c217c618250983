from django.db import migrations

from clearinghouse.postgres_columns import quickly_compressed


class Migration(migrations.Migration):

    dependencies = [
        ('published', '0001_initial'),
    ]

    operations = [
        quickly_compressed('published', 'PublishedVersion', 'body', 'text', 'headings', 'metas', 'anchors'),
    ]
