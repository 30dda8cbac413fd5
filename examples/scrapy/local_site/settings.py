# SPDX-License-Identifier: Apache-2.0
"""The settings of the example: the first two keep the crawl in a crawl file."""

SCHEDULER = "pycrawlstore.scrapy.Scheduler"
DUPEFILTER_CLASS = "pycrawlstore.scrapy.DupeFilter"

SPIDER_MODULES = ["local_site.spider"]
REQUEST_FINGERPRINTER_IMPLEMENTATION = "2.7"
TELNETCONSOLE_ENABLED = False
LOG_LEVEL = "INFO"
