-- The latest published run. It is looked up among the partitions: that reads no part, and finds a run without records.
SELECT *
FROM calculations
WHERE run = (SELECT max(run) FROM "calculations$partitions")
