"""show_json.py: reads coilc's diagnostics as JSON, an object a line, and shows each on a line."""

import json
import sys
from pathlib import Path


def show(each, indent=""):
    place = "-"
    if "file" in each:
        place = Path(each["file"]).name
    if "line" in each:
        place += f" {each['line']}:{each['column']}-{each['end_line']}:{each['end_column']}"
    print(f"{indent}{each['severity']} {place} {each['message']}")
    for note in each.get("notes", []):
        show(note, indent + "  ")


objects = [json.loads(line) for line in sys.stdin]
for each in objects:
    show(each)
print(f"{len(objects)} objects")
