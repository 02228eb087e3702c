-- Cards without an owner: their field for one owner and their list of owners are both empty. From the latest run.
SELECT coalesce(_datasetid, datasourceid) AS dataset, id, urn, title, type, access
FROM cards
WHERE coalesce(ownerid, '') = '' AND coalesce(cardinality(filter(owners, owner -> coalesce(owner.id, '') <> '')), 0) = 0
ORDER BY dataset, id
