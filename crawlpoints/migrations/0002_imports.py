

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawlpoints', '0001_initial'),
        ('library', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('uploading', 'Uploading'), ('reading', 'Reading the lines'), ('read', 'Waiting for a decision'), ('showing', 'Importing'), ('recording', 'Imported; the history is being written'), ('done', 'Imported'), ('removing', 'Cancelling'), ('cancelled', 'Cancelled'), ('taking_back', 'Taking back'), ('recording_back', 'Taken back; the history is being written'), ('taken_back', 'Taken back')], default='uploading', max_length=20)),
                ('at_once', models.BooleanField(default=False)),
                ('again', models.BooleanField(default=False)),
                ('position', models.IntegerField(default=0)),
                ('lines', models.IntegerField(default=0)),
                ('counts', models.JSONField(default=dict)),
                ('told', models.JSONField(default=dict)),
                ('asked_by', models.CharField(max_length=150)),
                ('asked_at', models.DateTimeField()),
                ('moved_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(null=True)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.DO_NOTHING, related_name='imports', to='library.document')),
            ],
            options={
                'db_table': 'clearinghouse_import',
            },
        ),
        migrations.CreateModel(
            name='ImportLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField()),
                ('adds', models.BooleanField()),
                ('point_id', models.IntegerField()),
                ('version', models.BigIntegerField(null=True)),
                ('values', models.JSONField(default=dict)),
                ('of', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='crawlpoints.import')),
            ],
            options={
                'db_table': 'clearinghouse_import_line',
            },
        ),
        migrations.CreateModel(
            name='ImportPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField()),
                ('text', models.TextField()),
                ('of', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='crawlpoints.import')),
            ],
            options={
                'db_table': 'clearinghouse_import_part',
            },
        ),
        migrations.AddIndex(
            model_name='import',
            index=models.Index(fields=['state'], name='import_state'),
        ),
        migrations.AddIndex(
            model_name='importline',
            index=models.Index(fields=['of', 'adds', 'point_id'], name='import_line_point'),
        ),
        migrations.AddConstraint(
            model_name='importline',
            constraint=models.UniqueConstraint(fields=('of', 'number'), name='import_line_unique'),
        ),
        migrations.AddConstraint(
            model_name='importpart',
            constraint=models.UniqueConstraint(fields=('of', 'number'), name='import_part_unique'),
        ),
    ]
