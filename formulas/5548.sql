-- platform-sync formula 5548
-- name: Cohort
STDDEV_POP(`Umsatz (€)`) / AVG(`Impressions`)
