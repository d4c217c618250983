from typing import Any

from django.db import migrations, models


def open_what_stands_open(apps: Any, schema_editor: Any) -> None:
    """Until now a queue was open when something had been found."""
    excursions = apps.get_model("crawler", "Excursion").objects.using(schema_editor.connection.alias)
    excursions.filter(found__gt=0).update(opened=True)


class Migration(migrations.Migration):
    """A document may have more than one strand: each is crawled once in a run, and by one unfinished run."""

    dependencies = [("crawler", "0007_relinked")]

    operations = [
        migrations.RemoveConstraint(model_name="excursion", name="excursion_unique"),
        migrations.RemoveConstraint(model_name="excursion", name="excursion_one_unfinished_per_document"),
        migrations.AddField("excursion", "opened", models.BooleanField(default=False, db_default=False)),
        migrations.AddField("excursion", "strand", models.CharField(max_length=10, default="web", db_default="web")),
        migrations.AddConstraint(
            "excursion", models.UniqueConstraint(fields=("run", "doc_id", "strand"), name="excursion_unique")
        ),
        migrations.AddConstraint(
            "excursion",
            models.UniqueConstraint(
                fields=("doc_id", "strand"),
                condition=models.Q(unfinished=True),
                name="excursion_one_unfinished_per_strand",
            ),
        ),
        migrations.RunPython(open_what_stands_open, migrations.RunPython.noop, hints={"model_name": "excursion"}),
    ]
