"""Tells times in the zone of a VTIMEZONE with python-dateutil: one JSON case per line of stdin, one JSON answer per line of stdout.

Case: {"zone": the VTIMEZONE, "tzid", "months": n}. Answer: noon of the 15th of n months from January 2026 on, in the zone, as seconds
since 1970.
"""

import io
import json
import sys
from datetime import datetime

from dateutil.tz import tzical

for line in sys.stdin:
    case = json.loads(line)
    zone = tzical(io.StringIO(case["zone"].replace("\r\n", "\n"))).get(case["tzid"])
    noons = (datetime(2026 + month // 12, 1 + month % 12, 15, 12, tzinfo=zone) for month in range(case["months"]))
    print(json.dumps([int(noon.timestamp()) for noon in noons]), flush=True)
