"""What is known of each site (scheme, host, port) over all instances: pace, robots.txt, trouble."""

from django.db import models

from clearinghouse.columns import DigestField


class Host(models.Model):
    key = DigestField(primary_key=True)
    origin = models.CharField(max_length=300)
    next_at = models.FloatField(default=0)  # the next free slot, seconds since 1970
    wait_until = models.FloatField(default=0)  # Retry-After, back-off
    noted_at = models.FloatField(default=0)  # when that was written: in the future, if the clock went back since
    failing_since = models.FloatField(default=0)
    probe_reason = models.CharField(max_length=24, default="")
    robots_status = models.SmallIntegerField(default=0)  # 0: never asked
    robots_at = models.FloatField(default=0)
    robots_text = models.TextField(default="")

    class Meta:
        db_table = "host"


class HostService(models.Model):
    """An instance that fetches from a host: its connections are divided among them."""

    host = models.ForeignKey(Host, models.CASCADE, related_name="services")
    instance = models.ForeignKey("Instance", models.CASCADE, related_name="hosts")
    flying = models.IntegerField(default=0)  # requests under way, and slots taken, of a site with a pause

    class Meta:
        db_table = "host_service"
        constraints = [models.UniqueConstraint(fields=["host", "instance"], name="host_service_unique")]
