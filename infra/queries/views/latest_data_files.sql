-- The latest published run. It is looked up among the partitions: that reads no part, and finds a run without records.
SELECT *
FROM data_files
WHERE run = (SELECT max(run) FROM "data_files$partitions")
