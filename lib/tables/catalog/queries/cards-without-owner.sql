-- Cards that nobody owns: they have no owner of their own, and nobody in their list of owners. From the latest run.
SELECT coalesce(_datasetid, datasourceid) AS dataset, id, urn, title, type, access
FROM cards
WHERE coalesce(ownerid, '') = '' AND coalesce(cardinality(filter(owners, owner -> coalesce(owner.id, '') <> '')), 0) = 0
ORDER BY dataset, id
