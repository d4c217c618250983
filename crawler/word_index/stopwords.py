"""The words that carry no content: they have the id 0 and are never stored. Pure.

The rule: the words below, and every single letter from a to z (what an apostrophe leaves of "don't" and "page's").
Numbers, and single characters of other scripts, are words like all others. Positions count stopwords too.
"""

from string import ascii_lowercase

_LIST = (
    "about above after again against ain all am an and any are aren as at be because been before being below "
    "between both but by can could couldn did didn do does doesn doing don down during each few for from further "
    "had hadn has hasn have haven having he her here hers herself him himself his how if in into is isn it its "
    "itself just ll may me might mightn more most must mustn my myself needn no nor not now of off on once only or "
    "other our ours ourselves out over own re same shall shan she should shouldn so some such than that the their "
    "theirs them themselves then there these they this those through to too under until up us ve very was wasn we "
    "were weren what when where which while who whom why will with won would wouldn you your yours yourself "
    "yourselves "
)
STOPWORDS = frozenset(_LIST.split()).union(ascii_lowercase)
