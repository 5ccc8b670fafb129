"""same_plans.py FILE: whether all plans of a module in phase exec are the same but for their names."""

import re
import sys
from pathlib import Path

text = Path(sys.argv[1]).read_text(encoding="utf-8")
plans = re.split(r"exec\.plan @\w+ ", text)[1:]
bodies = {plan.rstrip("} \n") for plan in plans}
print(f"{len(plans)} plans, " + ("all the same" if len(bodies) == 1 else "which differ"))
