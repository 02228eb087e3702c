"""Reads lines of JSON text, each a cron expression, and prints for each its fault as JSON text, or null."""

import json
import sys

from aws_cron_expression_validator.validator import AWSCronExpressionValidator

for line in sys.stdin:
    try:
        AWSCronExpressionValidator.validate(json.loads(line))
        print("null")
    except ValueError as fault:
        print(json.dumps(str(fault)))
