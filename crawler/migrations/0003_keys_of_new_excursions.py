from django.db import migrations

PARTS_OF_A_KEY = ('LedgerEntry', 'Message')  # unique by excursion and address


def forget_excursions(apps, schema_editor):
    """On PostgreSQL, no statistics of the excursion in keys.

    An excursion under way is younger than the last ANALYZE, so statistics say that no row has it: every index that
    begins with it looks equally good, and of 100,000 addresses each one was found by reading all. Without statistics
    the planner expects some rows of any excursion, and takes the index in which excursion and address are unique.
    """
    if schema_editor.connection.vendor != 'postgresql':
        return
    for name in PARTS_OF_A_KEY:
        model = apps.get_model('crawler', name)
        column = model._meta.get_field('excursion')
        kind = column.db_parameters(schema_editor.connection)['type']
        alter = f'ALTER TABLE {model._meta.db_table} ALTER COLUMN {column.column}'
        schema_editor.execute(f'{alter} TYPE {kind}')  # what was counted before is dropped, nothing is written anew
        schema_editor.execute(f'{alter} SET STATISTICS 0')


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0002_labels'),
    ]

    operations = [
        migrations.RunPython(
            forget_excursions, migrations.RunPython.noop, elidable=False, hints={'model_name': 'ledgerentry'}
        ),
    ]
