"""Serves MiniStack on 127.0.0.1, at the port that is its only argument.

What AWS documents and MiniStack lacks, and the stack needs, is added here. Each addition names the line that it makes up
for: once a version of MiniStack has no such line, the server does not start, and the addition is to be removed.
"""

import asyncio
import contextvars
import inspect
import sys
import time

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack import app
from ministack.services import eventbridge, lambda_durable, lambda_svc, scheduler
from ministack.services.cloudformation import provisioners


def lacks(function, line):
    """Raises unless the function's source still has the line for which something is added."""
    if line not in inspect.getsource(function):
        raise SystemExit(f"{function.__module__}.{function.__name__} has changed: see whether AWS's way is there now")


# A function with DurableConfig is durable. CloudFormation drops the property.
lacks(
    provisioners._lambda_create,
    '"SnapStart": _lambda_svc._snapstart_response(props.get("SnapStart")),\n            "RevisionId"',
)
create_function = provisioners._lambda_create


def create_durable(logical_id, props, stack_name):
    name, attributes = create_function(logical_id, props, stack_name)
    if "DurableConfig" in props:
        config = lambda_svc._functions[name]["config"]
        config["DurableConfig"] = {**props["DurableConfig"], "Enabled": True}
    return name, attributes


provisioners._lambda_create = create_durable
provisioners._RESOURCE_HANDLERS["AWS::Lambda::Function"]["create"] = create_durable


# An execution has the name that it is started with, and is started once for each name. The name is ignored.
lacks(lambda_svc._invoke, "            input_payload=event_payload,\n            execution_timeout=")
invoke = lambda_svc._invoke
build_arn = lambda_durable.build_durable_execution_arn
wanted_name = contextvars.ContextVar("wanted_name", default=None)


async def invoke_once(name, event, headers, *rest, **named):
    wanted = headers.get("x-amz-durable-execution-name")
    for execution in lambda_durable._executions.values():
        if wanted is not None and execution["DurableExecutionName"] == wanted:
            return 202, {"X-Amz-Durable-Execution-Arn": execution["DurableExecutionArn"]}, b""
    wanted_name.set(wanted)
    return await invoke(name, event, headers, *rest, **named)


def build_named_arn(function_arn, version="$LATEST", name=None):
    return build_arn(function_arn, version, name or wanted_name.get())


lambda_svc._invoke = invoke_once
lambda_durable.build_durable_execution_arn = build_named_arn


# An execution that was started asynchronously is resumed after its waits. Only those that a caller waits for are.
lacks(lambda_svc.invoke_async_with_retry, "last_result = _execute_function(func, event)")
start = lambda_svc.invoke_async_with_retry


def start_execution(func, event):
    arn = event.get("DurableExecutionArn") if isinstance(event, dict) else None
    if arn is None:
        return start(func, event)
    return lambda_svc.spawn_background(
        lambda_svc.invoke_durable_resume, func["config"]["FunctionName"], arn, {}, thread_name="durable-start"
    )


lambda_svc.invoke_async_with_retry = start_execution


# An execution stays on the version that it was started on. It is resumed on the newest code.
lacks(lambda_svc.invoke_durable_resume, "func = _functions.get(canonical)\n    if not func:\n        return\n")
execute = lambda_svc._execute_function


def execute_version(func, event):
    arn = event.get("DurableExecutionArn") if isinstance(event, dict) else None
    if arn is not None and "versions" in func:
        func = func["versions"][arn.split("/")[0].rsplit(":", 1)[-1]]
    return execute(func, event)


lambda_svc._execute_function = execute_version


# What an operation lacks is not in its JSON. A wait without a name has a name that is null, which the SDK takes for another.
lacks(lambda_durable._apply_update, '"ParentId": parent_id,\n            "Name": name,')
serialize = lambda_durable._serialize_operations


def serialize_present(operations, *, for_event=False):
    return [
        {name: value for name, value in operation.items() if value is not None}
        for operation in serialize(operations, for_event=for_event)
    ]


lambda_durable._serialize_operations = serialize_present


# A schedule's input has the time that it was due, which for a cron is a whole minute. The placeholder is left there.
lacks(scheduler._tick_schedules, "_eb._invoke_target(target, event, sched)")
invoke_target = eventbridge._invoke_target


def invoke_scheduled(target, event, rule, view=None):
    if event.get("Source") == "aws.scheduler" and "Input" in target:
        due = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(event["Time"]))
        target = {**target, "Input": target["Input"].replace("<aws.scheduler.scheduled-time>", due)}
    return invoke_target(target, event, rule, view)


eventbridge._invoke_target = invoke_scheduled
# AWS starts within the minute; this only saves time.
scheduler._SCHEDULE_TICK_INTERVAL = 1

if __name__ == "__main__":
    config = Config()
    config.bind = [f"127.0.0.1:{sys.argv[1]}"]
    config.keep_alive_timeout = 75
    asyncio.run(serve(app.app, config))
