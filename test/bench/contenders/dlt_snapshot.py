"""All calculations by dlt's REST client and its offset paginator, as its manual has it, into files of a folder.

Arguments: the folder, `jsonl` or `parquet`, and a name for the pipeline's state. Prints {"records", "cpuSeconds", "peakMb"};
the ids that it wrote are in FOLDER/ids.txt, a line each.
"""

import glob
import gzip
import json
import os
import resource
import sys

folder, file_format = sys.argv[1:3]
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"

import dlt
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.paginators import OffsetPaginator

LIMIT = 1000

client = RESTClient(
    base_url=os.environ["PLATFORM_BASE_URL"],
    headers={"X-SERVICE-Developer-Token": os.environ["PLATFORM_TOKEN"]},
    paginator=OffsetPaginator(limit=LIMIT, offset_body_path="offset", limit_body_path="limit", total_path="totalHits"),
)


@dlt.resource(name="calculations", write_disposition="replace", max_table_nesting=0)
def calculations():
    asked = {"filters": [], "sort": {"field": "id", "ascending": True}}
    yield from client.paginate("/api/query/v1/functions/search", method="POST", json=asked, data_selector="results")


pipeline = dlt.pipeline(
    "calculations",
    pipelines_dir=os.path.join(folder, "state"),
    destination=dlt.destinations.filesystem(os.path.join(folder, "files")),
    dataset_name="snapshot",
)
pipeline.run(calculations(), loader_file_format=file_format)
took = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]

ids = []
for path in glob.glob(os.path.join(folder, "files", "snapshot", "calculations", "*")):
    if file_format == "parquet":
        import pyarrow.parquet

        ids += pyarrow.parquet.read_table(path, columns=["id"])["id"].to_pylist()
    else:
        with gzip.open(path, "rt") as lines:
            ids += [json.loads(line)["id"] for line in lines]
with open(os.path.join(folder, "ids.txt"), "w") as out:
    out.writelines(f"{each}\n" for each in ids)
print(
    json.dumps(
        {
            "records": len(ids),
            "cpuSeconds": sum(each.ru_utime + each.ru_stime for each in took),
            "peakMb": max(each.ru_maxrss for each in took) / 1000,
        }
    )
)
