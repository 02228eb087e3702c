-- What was added, removed or changed since a week ago, in all sources, with the fields that differ. The latest run is
-- compared with the last one of a day at least seven days before, and where there is none with the first there is.
-- downloadUrl is signed anew in each run and not compared; the order of functions means nothing.
WITH
calculations_days AS (
  SELECT run, CAST(dt AS date) AS taken, max(CAST(dt AS date)) OVER () AS latest
  FROM "calculations$partitions"
),
calculations_runs AS (
  SELECT
    max(run) AS now,
    coalesce(max(run) FILTER (WHERE taken <= latest - INTERVAL '7' DAY), min(run)) AS before
  FROM calculations_days
),
calculations_pairs AS (
  SELECT
    'calculations' AS source,
    CASE WHEN old.id IS NULL THEN 'added' WHEN now.id IS NULL THEN 'removed' ELSE 'changed' END AS change,
    CAST(NULL AS varchar) AS of_set,
    coalesce(now.id, old.id) AS id,
    coalesce(now.name, old.name) AS name,
    CASE WHEN old.id IS NOT NULL AND now.id IS NOT NULL THEN concat_ws(
      ', ',
      CASE WHEN now.name IS DISTINCT FROM old.name THEN 'name' END,
      CASE WHEN now.owner IS DISTINCT FROM old.owner THEN 'owner' END,
      CASE WHEN now.locked IS DISTINCT FROM old.locked THEN 'locked' END,
      CASE WHEN now.global IS DISTINCT FROM old.global THEN 'global' END,
      CASE WHEN now.expression IS DISTINCT FROM old.expression THEN 'expression' END,
      CASE WHEN now.checksum IS DISTINCT FROM old.checksum THEN 'checkSum' END,
      CASE WHEN now.links IS DISTINCT FROM old.links THEN 'links' END,
      CASE WHEN now.legacyid IS DISTINCT FROM old.legacyid THEN 'legacyId' END,
      CASE WHEN now.lastmodified IS DISTINCT FROM old.lastmodified THEN 'lastModified' END,
      CASE WHEN now.created IS DISTINCT FROM old.created THEN 'created' END,
      CASE WHEN now.aggregated IS DISTINCT FROM old.aggregated THEN 'aggregated' END,
      CASE WHEN now.analytic IS DISTINCT FROM old.analytic THEN 'analytic' END,
      CASE WHEN now.nonaggregatedcolumns IS DISTINCT FROM old.nonaggregatedcolumns THEN 'nonAggregatedColumns' END,
      CASE WHEN now.datatype IS DISTINCT FROM old.datatype THEN 'dataType' END,
      CASE WHEN now.status IS DISTINCT FROM old.status THEN 'status' END,
      CASE WHEN now.cachewindow IS DISTINCT FROM old.cachewindow THEN 'cacheWindow' END,
      CASE WHEN now.columnpositions IS DISTINCT FROM old.columnpositions THEN 'columnPositions' END,
      CASE
        WHEN array_sort(array_distinct(now.functions)) IS DISTINCT FROM array_sort(array_distinct(old.functions))
          THEN 'functions'
      END,
      CASE
        WHEN now.functiontemplatedependencies IS DISTINCT FROM old.functiontemplatedependencies
          THEN 'functionTemplateDependencies'
      END,
      CASE WHEN now.archived IS DISTINCT FROM old.archived THEN 'archived' END,
      CASE WHEN now.hidden IS DISTINCT FROM old.hidden THEN 'hidden' END,
      CASE WHEN now.variable IS DISTINCT FROM old.variable THEN 'variable' END,
      CASE WHEN now.activelinks IS DISTINCT FROM old.activelinks THEN 'activeLinks' END
    ) END AS fields
  FROM (SELECT * FROM calculations WHERE run = (SELECT now FROM calculations_runs)) AS now
  FULL JOIN (SELECT * FROM calculations WHERE run = (SELECT before FROM calculations_runs)) AS old
    ON now.id = old.id
),
files_days AS (
  SELECT run, CAST(dt AS date) AS taken, max(CAST(dt AS date)) OVER () AS latest
  FROM "files$partitions"
),
files_runs AS (
  SELECT
    max(run) AS now,
    coalesce(max(run) FILTER (WHERE taken <= latest - INTERVAL '7' DAY), min(run)) AS before
  FROM files_days
),
files_pairs AS (
  SELECT
    'files' AS source,
    CASE WHEN old.id IS NULL THEN 'added' WHEN now.id IS NULL THEN 'removed' ELSE 'changed' END AS change,
    coalesce(now._filesetid, old._filesetid) AS of_set,
    coalesce(now.id, old.id) AS id,
    coalesce(now.path, old.path) AS name,
    CASE WHEN old.id IS NOT NULL AND now.id IS NOT NULL THEN concat_ws(
      ', ',
      CASE WHEN now.path IS DISTINCT FROM old.path THEN 'path' END,
      CASE WHEN now.name IS DISTINCT FROM old.name THEN 'name' END,
      CASE WHEN now.filetype IS DISTINCT FROM old.filetype THEN 'fileType' END,
      CASE WHEN now.contenttype IS DISTINCT FROM old.contenttype THEN 'contentType' END,
      CASE WHEN now.size IS DISTINCT FROM old.size THEN 'size' END,
      CASE WHEN now.created IS DISTINCT FROM old.created THEN 'created' END,
      CASE WHEN now.createdby IS DISTINCT FROM old.createdby THEN 'createdBy' END,
      CASE WHEN now.hash IS DISTINCT FROM old.hash THEN 'hash' END,
      CASE WHEN now.hashalgorithm IS DISTINCT FROM old.hashalgorithm THEN 'hashAlgorithm' END,
      CASE WHEN now.connectorkey IS DISTINCT FROM old.connectorkey THEN 'connectorKey' END,
      CASE WHEN now.indexstatus IS DISTINCT FROM old.indexstatus THEN 'indexStatus' END,
      CASE WHEN now.indexreason IS DISTINCT FROM old.indexreason THEN 'indexReason' END
    ) END AS fields
  FROM (SELECT * FROM files WHERE run = (SELECT now FROM files_runs)) AS now
  FULL JOIN (SELECT * FROM files WHERE run = (SELECT before FROM files_runs)) AS old
    ON now._filesetid = old._filesetid AND now.id = old.id
),
cards_days AS (
  SELECT run, CAST(dt AS date) AS taken, max(CAST(dt AS date)) OVER () AS latest
  FROM "cards$partitions"
),
cards_runs AS (
  SELECT
    max(run) AS now,
    coalesce(max(run) FILTER (WHERE taken <= latest - INTERVAL '7' DAY), min(run)) AS before
  FROM cards_days
),
cards_pairs AS (
  SELECT
    'cards' AS source,
    CASE WHEN old.id IS NULL THEN 'added' WHEN now.id IS NULL THEN 'removed' ELSE 'changed' END AS change,
    coalesce(now._datasetid, now.datasourceid, old._datasetid, old.datasourceid) AS of_set,
    coalesce(now.id, old.id) AS id,
    coalesce(now.title, old.title) AS name,
    CASE WHEN old.id IS NOT NULL AND now.id IS NOT NULL THEN concat_ws(
      ', ',
      CASE WHEN now.urn IS DISTINCT FROM old.urn THEN 'urn' END,
      CASE WHEN now.type IS DISTINCT FROM old.type THEN 'type' END,
      CASE WHEN now.charttype IS DISTINCT FROM old.charttype THEN 'chartType' END,
      CASE WHEN now.title IS DISTINCT FROM old.title THEN 'title' END,
      CASE WHEN now.ownerid IS DISTINCT FROM old.ownerid THEN 'ownerId' END,
      CASE WHEN now.owners IS DISTINCT FROM old.owners THEN 'owners' END,
      CASE WHEN now.access IS DISTINCT FROM old.access THEN 'access' END,
      CASE WHEN now.datasourceid IS DISTINCT FROM old.datasourceid THEN 'datasourceId' END
    ) END AS fields
  FROM (SELECT * FROM cards WHERE run = (SELECT now FROM cards_runs)) AS now
  FULL JOIN (SELECT * FROM cards WHERE run = (SELECT before FROM cards_runs)) AS old
    ON coalesce(now._datasetid, now.datasourceid) = coalesce(old._datasetid, old.datasourceid) AND now.id = old.id
),
data_files_days AS (
  SELECT run, CAST(dt AS date) AS taken, max(CAST(dt AS date)) OVER () AS latest
  FROM "data_files$partitions"
),
data_files_runs AS (
  SELECT
    max(run) AS now,
    coalesce(max(run) FILTER (WHERE taken <= latest - INTERVAL '7' DAY), min(run)) AS before
  FROM data_files_days
),
data_files_pairs AS (
  SELECT
    'data-files' AS source,
    CASE WHEN old.datafileid IS NULL THEN 'added' WHEN now.datafileid IS NULL THEN 'removed' ELSE 'changed' END AS change,
    CAST(NULL AS varchar) AS of_set,
    coalesce(now.datafileid, old.datafileid) AS id,
    coalesce(now.name, old.name) AS name,
    CASE WHEN old.datafileid IS NOT NULL AND now.datafileid IS NOT NULL THEN concat_ws(
      ', ',
      CASE WHEN now.name IS DISTINCT FROM old.name THEN 'name' END,
      CASE WHEN now.responsibleuserid IS DISTINCT FROM old.responsibleuserid THEN 'responsibleUserId' END,
      CASE WHEN now.currentrevision IS DISTINCT FROM old.currentrevision THEN 'currentRevision' END,
      CASE WHEN now.datetimecreated IS DISTINCT FROM old.datetimecreated THEN 'datetimeCreated' END,
      CASE WHEN now.revisions IS DISTINCT FROM old.revisions THEN 'revisions' END,
      CASE WHEN now.existing IS DISTINCT FROM old.existing THEN 'existing' END
    ) END AS fields
  FROM (SELECT * FROM data_files WHERE run = (SELECT now FROM data_files_runs)) AS now
  FULL JOIN (SELECT * FROM data_files WHERE run = (SELECT before FROM data_files_runs)) AS old
    ON now.datafileid = old.datafileid
)
SELECT source, change, of_set, id, name, fields
FROM (
  SELECT * FROM calculations_pairs
  UNION ALL
  SELECT * FROM files_pairs
  UNION ALL
  SELECT * FROM cards_pairs
  UNION ALL
  SELECT * FROM data_files_pairs
) AS pair
WHERE fields IS NULL OR fields <> ''
ORDER BY source, change, of_set, name, id
