from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0006_forecasts'),
    ]

    operations = [
        migrations.AddField(
            model_name='forecast',
            name='relinked',
            field=models.IntegerField(db_default=0, default=0),
        ),
        # A memory of what was worked out: it is worked out again, with the new number.
        migrations.RunSQL('DELETE FROM propagation_forecast', migrations.RunSQL.noop),
    ]
