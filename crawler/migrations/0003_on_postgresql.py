from django.db import migrations

from clearinghouse.postgres_columns import quickly_compressed, without_statistics


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0002_labels'),
    ]

    operations = [
        without_statistics('crawler', 'LedgerEntry', 'excursion'),
        without_statistics('crawler', 'Message', 'excursion'),
        quickly_compressed('crawler', 'PageBody', 'content'),
        quickly_compressed('crawler', 'PageVersion', 'text', 'headings', 'metas'),
    ]
