"""The peer: Scrapy crawling the same site and storing the same things. scrapy runspider … -a start=URL -a db=FILE"""

import json
import sqlite3
from urllib.parse import urlsplit

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Peer(CrawlSpider):
    name = "peer"
    rules = [Rule(LinkExtractor(), callback="store", follow=True)]
    custom_settings = {
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "LOG_LEVEL": "ERROR",
    }

    def __init__(self, start, db, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [start]
        self.allowed_domains = [urlsplit(start).hostname]
        self.pages = 0
        self.db = sqlite3.connect(db)
        self.db.execute("CREATE TABLE page (url, title, metas, text, body)")

    def parse_start_url(self, response):
        return self.store(response)

    def store(self, response):
        metas = [
            (m.attrib.get("name") or m.attrib.get("property"), m.attrib.get("content")) for m in response.css("meta")
        ]
        text = " ".join(response.xpath("//body//text()[not(parent::script or parent::style)]").getall())
        title = response.css("title::text").get()
        self.db.execute(
            "INSERT INTO page VALUES (?,?,?,?,?)", (response.url, title, json.dumps(metas), text, response.body)
        )
        self.pages += 1
        if self.pages % 200 == 0:
            self.db.commit()

    def closed(self, reason):
        self.db.commit()
        print(json.dumps({"pages": self.pages}))
