-- platform-sync formula 5991
-- name: SLA breached?
AVG(SUM(`Impressions`) FIXED (ADD `Currency`, `Ship Date`))
