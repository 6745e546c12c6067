"""Checks JSON against a schema of schemas/, with Debian's python3-jsonschema.

usage: validate.py SCHEMA FILE    one JSON value per line; prints how many, or what is wrong with the first that is not
"""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
count = 0
with open(sys.argv[2], encoding="utf-8") as file:
    for line in file:
        value = json.loads(line)
        for error in validator.iter_errors(value):
            sys.exit(f"{error.json_path}: {error.message}\n{line}")
        count += 1
print(count)
