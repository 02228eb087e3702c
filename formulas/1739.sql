-- platform-sync formula 1739
-- name: Days Open
STDDEV_POP(`Latitude`) / AVG(`Impressions`)
